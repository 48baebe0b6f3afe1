#include "lsp/Uri.h"

#include <gtest/gtest.h>

namespace colldsl::lsp {
namespace {

TEST(Uri, OfAFileIsItsPath) {
  EXPECT_EQ(pathOf("file:///a/b.coll"), "/a/b.coll");
  EXPECT_EQ(pathOf("file://localhost/a/b.coll"), "/a/b.coll");
  EXPECT_EQ(pathOf("file:///a%20b/%C3%A4.coll"), "/a b/\xc3\xa4.coll");
  EXPECT_EQ(pathOf("file:///100%"), "/100%");
  EXPECT_EQ(pathOf("file:///%zz%4"), "/%zz%4");
}

TEST(Uri, OfAnotherSchemeStandsForItself) {
  EXPECT_EQ(pathOf("untitled:Untitled-1"), "untitled:Untitled-1");
}

TEST(Uri, OfAPathLeadsBack) {
  EXPECT_EQ(uriOf("/a b/\xc3\xa4#?.coll"), "file:///a%20b/%C3%A4%23%3F.coll");
  for (const char *path : {"/a", "/a b%20c", "/\xf0\x9d\x84\x9e", "/@:&=+$,;!~*'()"})
    EXPECT_EQ(pathOf(uriOf(path)), path);
}

} // namespace
} // namespace colldsl::lsp
