#include "lsp/TextPart.h"

#include <gtest/gtest.h>

#include <string>

namespace colldsl::lsp {
namespace {

using Kind = TextPart::Kind;

Kind kindAt(std::string text) {
  size_t caret = text.find('^');
  return textPartAt(text.erase(caret, 1), caret).kind;
}

TEST(TextPart, code) {
  for (const char *text :
       {"^", "a^", "/* a */^", "^/* a */", "^// a", "// a\n^", "\"a\"^", "^\"a\"", "// \" \n^",
        "// /* \n^", "/* \" */^", "\"/*\" ^", "\"a\\\"\"^", "\"a\n^"})
    EXPECT_EQ(kindAt(text), Kind::Code) << text;
}

TEST(TextPart, comments) {
  for (const char *text :
       {"/^/", "//^", "// a^", "// a^\nb", "/* ^", "/* a *^/", "/* // */ /*^", "/// \"a\"^"})
    EXPECT_EQ(kindAt(text), Kind::Comment) << text;
}

TEST(TextPart, strings) {
  for (const char *text :
       {"\"^", "\"a^\"", "\"a^", "\"a^\nb", "\"//^", "\"\\\"^", "\"\\\\\" \"^", "\"a\" \"^\""})
    EXPECT_EQ(kindAt(text), Kind::String) << text;
}

TEST(TextPart, begin) {
  EXPECT_EQ(textPartAt("ab // c", 6).begin, 3u);
  EXPECT_EQ(textPartAt("ab \"c", 5).begin, 3u);
}

TEST(TextPart, endOfCode) {
  EXPECT_EQ(endOfCodeBefore("a; // b\n  /* c */ d", 18), 2u);
  EXPECT_EQ(endOfCodeBefore("a;b", 2), 2u);
  EXPECT_EQ(endOfCodeBefore("\"// a\" ", 7), 6u);
  EXPECT_EQ(endOfCodeBefore("// a\n/", 5), 0u);
}

} // namespace
} // namespace colldsl::lsp
