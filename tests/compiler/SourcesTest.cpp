// Diagnostics as people read them.
#include "compiler/Sources.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

class SourcesTest : public testing::Test {
protected:
  uint16_t add(const char *name, llvm::StringRef text) {
    return sources.add(llvm::MemoryBuffer::getMemBufferCopy(text, name), name);
  }
  Sources sources;
};

TEST_F(SourcesTest, ShowsLineAndCaret) {
  add("a.coll", "one\n");
  uint16_t file = add("ring.coll", "first\n  let x = y;\nlast");
  EXPECT_EQ(sources.render(Diagnostic::error({2, 11, file}, "unknown name 'y'")),
            "ring.coll:2:11: error: unknown name 'y'\n"
            "  let x = y;\n"
            "          ^\n");
}

TEST_F(SourcesTest, ShowsHintsAndNotes) {
  uint16_t file = add("a.coll", "abc\ndef\n");
  Diagnostic d = Diagnostic::error({1, 1, file}, "wrong", "did you mean 'x'?");
  d.notes.push_back(Diagnostic::note({2, 2, file}, "see here"));
  EXPECT_EQ(sources.render(d), "a.coll:1:1: error: wrong\n"
                               "abc\n"
                               "^\n"
                               "  hint: did you mean 'x'?\n"
                               "a.coll:2:2: note: see here\n"
                               "def\n"
                               " ^\n");
}

TEST_F(SourcesTest, PointsBehindTheLastCharacter) {
  uint16_t file = add("a.coll", "abc");
  EXPECT_EQ(sources.render(Diagnostic::error({1, 4, file}, "ends")), "a.coll:1:4: error: ends\n"
                                                                     "abc\n"
                                                                     "   ^\n");
}

TEST_F(SourcesTest, DoesWithoutAPlace) {
  add("a.coll", "abc");
  EXPECT_EQ(sources.render(Diagnostic::error({}, "nowhere")), "error: nowhere\n");
  EXPECT_EQ(sources.render(Diagnostic::error({9, 9, 0}, "past the end")), "error: past the end\n");
  EXPECT_EQ(sources.render(Diagnostic::error({1, 1, 7}, "no such file")), "error: no such file\n");
}

} // namespace
