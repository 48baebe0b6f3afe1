#include "ir/Printable.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

std::string jsonOf(std::string_view text) {
  std::string out;
  EXPECT_EQ(appendPrintable(out, text, Masking::JsonEscapes, /*mayGoOn=*/false), 0u);
  return out;
}

TEST(Printable, textStaysAsItIs) {
  for (const char *text : {"", "plain\ttext\n", "Größe 5 µs", "\xe2\x82\xac \xf0\x9f\x98\x80"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, noControlCharacterIsLeft) {
  for (int c = 0; c < 0x20; ++c)
    EXPECT_EQ(printable(std::string(1, static_cast<char>(c))), c == '\n'   ? "\n"
                                                               : c == '\t' ? "\t"
                                                                           : "?")
        << c;
  EXPECT_EQ(printable("\x1b[31mred\x1b]0;title\x07"), "?[31mred?]0;title?");
  EXPECT_EQ(printable("\x7f"), "?");
  for (int c = 0x80; c < 0xa0; ++c) // C1, as UTF-8 and as single bytes
    for (const std::string &text :
         {std::string("\xc2") + static_cast<char>(c), std::string(1, static_cast<char>(c))})
      EXPECT_EQ(printable(text), std::string(text.size(), '?')) << c;
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(Printable, noControlOfDirectionIsLeft) {
  for (const char *control :
       {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
        "\xe2\x81\xa9", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    EXPECT_EQ(printable(control), std::string(std::string_view(control).size(), '?'));
  EXPECT_EQ(printable("\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa"),
            "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa");
}

// Overlong, cut off, surrogates, beyond the last character: a terminal may take them for others.
TEST(Printable, bytesThatAreNoUtf8AreMasked) {
  for (const char *text : {"\xc0\x9b", "\xe0\x80\x9b", "\xe2\x82", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xff", "\xf0\x80\x82\x9b"})
    EXPECT_EQ(printable(text), std::string(std::string_view(text).size(), '?'));
  EXPECT_EQ(printable("a\xe2\x82z"), "a??z");
}

TEST(Printable, jsonKeepsItsMeaning) {
  EXPECT_EQ(jsonOf("{\n  \"a\": \"b\xc2\x9b\x7f\xe2\x80\xae\"\n}"),
            "{\n  \"a\": \"b\\u009b\\u007f\\u202e\"\n}");
  EXPECT_EQ(jsonOf("\x9b"), "\\ufffd");
}

TEST(Printable, aCharacterMayComeInParts) {
  std::string out;
  EXPECT_EQ(appendPrintable(out, "a\xe2\x82", Masking::QuestionMarks, /*mayGoOn=*/true), 2u);
  EXPECT_EQ(out, "a");
  EXPECT_EQ(appendPrintable(out, "\xe2\x82\xac", Masking::QuestionMarks, /*mayGoOn=*/true), 0u);
  EXPECT_EQ(out, "a\xe2\x82\xac");
  EXPECT_EQ(appendPrintable(out, "\xe2z", Masking::QuestionMarks, /*mayGoOn=*/true), 0u);
  EXPECT_EQ(out, "a\xe2\x82\xac?z");
}

} // namespace
} // namespace colldsl
