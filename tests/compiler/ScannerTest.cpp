// Tokens, comments, and the faults of a text.
#include "Parsing.h"

#include "compiler/Scanner.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

std::vector<std::string> tokensOf(std::string_view text) {
  Result<std::vector<Token>> tokens = scan(text, 0, {});
  if (!tokens)
    return {brief(tokens.status().diagnostic())};
  std::vector<std::string> texts;
  for (const Token &token : *tokens)
    texts.emplace_back(token.text);
  return texts;
}

std::string faultOf(std::string_view text, const ParseLimits &limits = {}) {
  Result<std::vector<Token>> tokens = scan(text, 0, limits);
  return tokens ? "no fault" : brief(tokens.status().diagnostic());
}

using Texts = std::vector<std::string>;

TEST(Scanner, TakesTheLongestPunctuation) {
  EXPECT_EQ(tokensOf("a..=b..c==d<=e<<f-1"),
            (Texts{"a", "..=", "b", "..", "c", "==", "d", "<=", "e", "<<", "f", "-", "1"}));
}

TEST(Scanner, LeavesOutComments) {
  EXPECT_EQ(tokensOf("a // b\nc /* d\ne */ f /**/ g /// h"), (Texts{"a", "c", "f", "g"}));
}

TEST(Scanner, KeepsNumbersWithTheirUnits) {
  EXPECT_EQ(tokensOf("0..64KiB 100ns"), (Texts{"0", "..", "64KiB", "100ns"}));
}

TEST(Scanner, StringsHoldCommentsAndQuotes) {
  EXPECT_EQ(tokensOf(R"("a // \" /* \\" b)"), (Texts{R"("a // \" /* \\")", "b"}));
}

TEST(Scanner, CountsLinesAndByteColumns) {
  Result<std::vector<Token>> tokens = scan("a\n/* \n */  b \"\xC3\xA9\" c", 7, {});
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ((*tokens)[0].loc, (SourceLoc{1, 1, 7}));
  EXPECT_EQ((*tokens)[1].loc, (SourceLoc{3, 6, 7}));
  EXPECT_EQ((*tokens)[3].loc, (SourceLoc{3, 13, 7}));
}

TEST(Scanner, RefusesCommentsAndStringsWithoutEnd) {
  EXPECT_EQ(faultOf("a\n /* b"), "2:2: this comment is never closed: '*/' is missing");
  EXPECT_EQ(faultOf("a \"b\nc\""), "1:3: this string is never closed: '\"' is missing on its line");
  EXPECT_EQ(faultOf("\"\\"), "1:1: this string is never closed: '\"' is missing on its line");
}

TEST(Scanner, RefusesBytesThatAreNoText) {
  EXPECT_EQ(faultOf(std::string_view("a\n b\0c", 6)), "2:3: NUL byte in the text");
  EXPECT_EQ(faultOf("a\x1b[31m"), "1:2: control character 0x1b in the text");
  EXPECT_EQ(faultOf("// \xC3("), "1:4: byte 0xc3 does not begin a UTF-8 character");
  EXPECT_EQ(faultOf("// \xED\xA0\x80"), "1:4: byte 0xed does not begin a UTF-8 character");
  EXPECT_EQ(faultOf("// \xC3"), "1:4: byte 0xc3 does not begin a UTF-8 character");
  EXPECT_EQ(faultOf("\xEF\xBB\xBFtree"),
            "1:1: the file begins with a byte order mark; save it without one");
}

TEST(Scanner, KeepsOtherAlphabetsInCommentsAndStrings) {
  EXPECT_EQ(tokensOf("/* \xCF\x80 */ \"\xE2\x82\xAC\""), (Texts{"\"\xE2\x82\xAC\""}));
  EXPECT_EQ(faultOf("let \xCF\x80 = 3"), "1:5: '\xCF\x80' can stand in comments and strings only");
}

TEST(Scanner, NamesTheLimitThatIsBroken) {
  ParseLimits limits;
  limits.maxBytes = 10;
  EXPECT_EQ(faultOf("0123456789", limits), "no fault");
  EXPECT_EQ(faultOf("0123456789a", limits),
            "1:1: the file has 11 bytes, the limit is 10 (--max-source-bytes)");
  limits = {};
  limits.maxLineBytes = 5;
  EXPECT_EQ(faultOf("12345\n12345\n", limits), "no fault");
  EXPECT_EQ(faultOf("12345\n123456", limits),
            "2:1: this line has more than 5 bytes, the limit (--max-line-bytes)");
  limits = {};
  limits.maxTokens = 3;
  EXPECT_EQ(faultOf("a b c", limits), "no fault");
  EXPECT_EQ(faultOf("a b c d", limits),
            "1:7: the file has more than 3 tokens, the limit (--max-tokens)");
}

TEST(Scanner, LineLimitStaysWithinColumns) {
  ParseLimits limits;
  limits.maxLineBytes = 1'000'000;
  EXPECT_EQ(faultOf(repeat("a", 65'535), limits), "no fault");
  EXPECT_EQ(faultOf(repeat("a", 65'536), limits),
            "1:1: this line has more than 65535 bytes, the limit (--max-line-bytes)");
}

} // namespace
