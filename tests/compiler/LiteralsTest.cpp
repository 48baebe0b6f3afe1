// Numbers, strings and doc comments.
#include "Parsing.h"

#include "compiler/Literals.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

std::string hintOf(std::string_view number) {
  Result<NumberValue> result = parseNumber(number, {1, 1, 0});
  return result ? "no error" : brief(result.status().diagnostic());
}

TEST(Literals, NumbersHaveUnits) {
  EXPECT_EQ(parseNumber("64KiB", {})->value, 65536);
  EXPECT_EQ(parseNumber("64KiB", {})->unit, ast::Unit::Bytes);
  EXPECT_EQ(parseNumber("3GiB", {})->value, int64_t{3} << 30);
  EXPECT_EQ(parseNumber("2us", {})->value, 2000);
  EXPECT_EQ(parseNumber("2us", {})->unit, ast::Unit::Time);
  EXPECT_EQ(parseNumber("007", {})->value, 7);
  EXPECT_EQ(parseNumber("7", {})->unit, ast::Unit::None);
}

TEST(Literals, NumbersFit63Bits) {
  EXPECT_EQ(parseNumber("9223372036854775807", {})->value, INT64_MAX);
  EXPECT_EQ(hintOf("9223372036854775808"), "1:1: '9223372036854775808' does not fit 63 bits");
  EXPECT_EQ(hintOf("9223372036854775807KiB"), "1:1: '9223372036854775807KiB' does not fit 63 bits");
}

TEST(Literals, UnknownUnitsAreNamed) {
  EXPECT_EQ(hintOf("4KB"), "1:1: unknown unit 'KB' of a number [did you mean 'KiB'?]");
  EXPECT_EQ(hintOf("1e6"),
            "1:1: unknown unit 'e6' of a number [units are B KiB MiB GiB ns us ms s]");
}

TEST(Literals, StringsHaveEscapes) {
  EXPECT_EQ(*parseString(R"("a\"b\\c\n\td")", {}), "a\"b\\c\n\td");
  EXPECT_EQ(brief(parseString(R"("a\q")", {2, 3, 0}).status().diagnostic()),
            "2:3: unknown escape '\\q' in a string [escapes are \\\" \\\\ \\n \\t]");
}

TEST(Literals, DocCommentsEndAboveTheDeclaration) {
  EXPECT_EQ(docCommentAbove("/// one\n///two  \n  "), "one\ntwo");
  EXPECT_EQ(docCommentAbove("/// one\n\n"), "");
  EXPECT_EQ(docCommentAbove("/// one\n// two\n/// three\n"), "three");
  EXPECT_EQ(docCommentAbove("//// ruler\n/// one\n///\n/// two\n"), "one\n\ntwo");
  EXPECT_EQ(docCommentAbove("/// on the same line "), "");
  EXPECT_EQ(docCommentAbove(""), "");
}

} // namespace
