// Numbers with units, and lists of options.
#include "ir/Numbers.h"
#include "ir/OptionList.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

TEST(Numbers, areAllOfTheText) {
  EXPECT_EQ(parseWhole<uint8_t>("255"), 255);
  EXPECT_EQ(parseWhole<int64_t>("-3"), -3);
  EXPECT_EQ(parseWhole<uint64_t>("18446744073709551615"), UINT64_MAX);
  for (const char *text : {"", "256", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0"})
    EXPECT_FALSE(parseWhole<uint8_t>(text)) << text;
}

TEST(Numbers, haveUnits) {
  auto amountOf = [](std::string_view text) { return parseAmount(splitUnit(text), kByteUnits); };
  EXPECT_EQ(amountOf("7").value, 7u);
  EXPECT_EQ(amountOf("7B").value, 7u);
  EXPECT_EQ(amountOf("64KiB").value, 65536u);
  EXPECT_EQ(amountOf("17179869183GiB").value, 17179869183u << 30);
  EXPECT_EQ(parseAmount(splitUnit("3us"), kTimeUnits).value, 3000u);
  EXPECT_EQ(amountOf("17179869184GiB").error, AmountError::TooLarge);
  EXPECT_EQ(amountOf("1KB").error, AmountError::NoUnit);
  EXPECT_EQ(amountOf("1 KiB").error, AmountError::NoUnit);
  for (const char *text : {"", "KiB", "-1", "18446744073709551616"})
    EXPECT_EQ(amountOf(text).error, AmountError::NoNumber) << text;
}

TEST(OptionList, hasPieces) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(splitList("", ','), Pieces{""});
  EXPECT_EQ(splitList("a", ','), Pieces{"a"});
  EXPECT_EQ(splitList(",a,,b,", ','), (Pieces{"", "a", "", "b", ""}));
  std::string_view text = "a{b,{c}},d";
  EXPECT_EQ(takePiece(text, ',', Braces::Nest), "a{b,{c}}");
  EXPECT_EQ(takePiece(text, ',', Braces::Nest), "d");
  EXPECT_TRUE(text.empty());
}

TEST(OptionList, hasNamesAndValues) {
  std::vector<OptionEntry> entries = parseOptions("a=1,b,a=2=3,", ',');
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[0].value, "1");
  EXPECT_FALSE(entries[0].isRepeated);
  EXPECT_EQ(entries[1].name, "b");
  EXPECT_FALSE(entries[1].hasValue);
  EXPECT_EQ(entries[2].value, "2=3");
  EXPECT_TRUE(entries[2].isRepeated);
  EXPECT_EQ(entries[2].text, "a=2=3");
}

} // namespace
} // namespace colldsl
