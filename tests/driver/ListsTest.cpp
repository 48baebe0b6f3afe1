#include "driver/Lists.h"

#include "ir/Ranges.h"

#include <gtest/gtest.h>

namespace colldsl::driver {
namespace {

using Ranks = std::vector<uint32_t>;

TEST(Lists, RanksAscendAndComeOnce) {
  EXPECT_EQ(*parseRanks("4", 1), Ranks({4}));
  EXPECT_EQ(*parseRanks("5..8,1,2, 6", 1), Ranks({1, 2, 5, 6, 7, 8}));
  EXPECT_EQ(*parseRanks("3..3", 1), Ranks({3}));
}

TEST(Lists, RefusesTextThatIsNoListOfRanks) {
  for (const char *text : {"", "x", "1,,2", "1..", "..3", "4..2", "0", "-1", "1.5", "1...3",
                           "99999999999", "1..4294967294"})
    EXPECT_FALSE(parseRanks(text, 1).ok()) << text;
}

TEST(Lists, RangesReadBack) {
  EXPECT_EQ(rangesWord({}), "");
  EXPECT_EQ(rangesWord({1, 2, 3, 7, 9, 10}), "1..3,7,9..10");
  EXPECT_EQ(*parseRanks(rangesWord({0, 5, 6, 8}), 0), Ranks({0, 5, 6, 8}));
}

TEST(Lists, BytesHaveUnits) {
  EXPECT_EQ(*parseBytes("0"), 0u);
  EXPECT_EQ(*parseBytes("17B"), 17u);
  EXPECT_EQ(*parseBytes("64KiB"), 65536u);
  EXPECT_EQ(*parseBytes("2 GiB"), uint64_t{2} << 30);
  for (const char *text :
       {"", "KiB", "64kb", "-1", "1e6", "18446744073709551616", "17179869184GiB"})
    EXPECT_FALSE(parseBytes(text).ok()) << text;
}

TEST(Lists, BytesAreWholeElements) {
  EXPECT_TRUE(checkWhole(0, 8, "ring"));
  EXPECT_TRUE(checkWhole(16, 8, "ring"));
  EXPECT_EQ(checkWhole(6, 4, "ring").message(), "--bytes 6: elements of 'ring' have 4 bytes");
}

TEST(Lists, WordsOfBytes) {
  EXPECT_EQ(bytesWord(0), "0 B");
  EXPECT_EQ(bytesWord(160036), "160036 B");
  EXPECT_EQ(bytesWord(65536), "64 KiB");
  EXPECT_EQ(bytesWord(uint64_t{3} << 30), "3 GiB");
  EXPECT_EQ(bytesWord(uint64_t{1} << 50), "1048576 GiB");
}

TEST(Lists, durationsHaveAUnitUnlessAPlainOneIsMeant) {
  constexpr uint64_t kSecond = 1'000'000'000;
  EXPECT_EQ(*parseDurationNs("20s"), 20 * kSecond);
  EXPECT_EQ(*parseDurationNs("500ms"), kSecond / 2);
  EXPECT_EQ(parseDurationNs("20").message(), "'20' has no unit; times are like 20s, 500ms");
  EXPECT_EQ(*parseDurationNs("20", kSecond), 20 * kSecond);
  EXPECT_EQ(*parseDurationNs("5ms", kSecond), kSecond / 200);
  for (const char *wrong : {"", "s", "-1s", "1.5s", "20 years", "0s", "0", "99999999999999999s"})
    EXPECT_FALSE(parseDurationNs(wrong, kSecond).ok()) << wrong;
  EXPECT_FALSE(parseDurationNs("99999999999999", kSecond).ok());
}

} // namespace
} // namespace colldsl::driver
