// Failures that differ in their ranks only are one.
#include "verifier/Alike.h"
#include "tests/verifier/ScheduleBuilder.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

std::string pattern(const std::string &message, uint32_t line = 1, bool sharesText = true) {
  return proof::patternOf({Proof::Matching, message, {{Rank{0}, OpId{0}, {line, 1, 0}, ""}}},
                          sharesText);
}

TEST(Alike, ranksAndPlacesAreRenamed) {
  EXPECT_EQ(pattern("rank 0's send y[0..1] to 1"), pattern("rank 12's send y[3..4] to 0"));
  EXPECT_EQ(pattern("x@3 has 1 byte"), pattern("x@4 has 12 bytes"));
  EXPECT_EQ(pattern("sum of x at ranks 0, 1"), pattern("sum of x at ranks 0, 1, 2, 3"));
}

TEST(Alike, whatNoRenamingChanges) {
  EXPECT_NE(pattern("rank 0's send to 1"), pattern("rank 1's send to 1"));
  EXPECT_NE(pattern("rank 0's send to 1"), pattern("rank 0's recv to 1"));
  EXPECT_NE(pattern("x1 on rank 0"), pattern("x2 on rank 0")); // names of buffers
  EXPECT_NE(pattern("rank 0", 1), pattern("rank 0", 2));       // lines of the source
  EXPECT_EQ(pattern("rank 0", 1, false), pattern("rank 0", 2, false));
}

/// Each rank sends `times` messages to the next one, which receives none.
VerifyReport lonelySends(uint32_t ranks, uint32_t times = 1, VerifyOptions options = {}) {
  ScheduleBuilder b(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint32_t i = 0; i < times; ++i)
      b.sendBytes(r, 8, (r + 1) % ranks);
  for (Dag &dag : b.schedule().ranks)
    for (Op &op : dag.ops)
      op.loc = {1, 1, 0};
  return b.verify(options);
}

TEST(Alike, oneFailureForAllRanks) {
  VerifyReport report = lonelySends(8);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].rank(), Rank{0});
  EXPECT_EQ(proof::alikeWords(report.failures[0]), "and alike on 7 other ranks (1..7)");
}

TEST(Alike, onOneRankAgain) {
  EXPECT_EQ(proof::alikeWords(lonelySends(2, 2).failures.at(0)),
            "and alike in 3 other places, on ranks 0..1");
  EXPECT_EQ(proof::alikeWords(lonelySends(2).failures.at(0)), "and alike on 1 other rank (1)");
}

TEST(Alike, noneIsSilent) {
  ScheduleBuilder b(2);
  b.sendBytes(0, 8, 1);
  EXPECT_EQ(proof::alikeWords(b.verify().failures.at(0)), "");
}

// The limit counts patterns; what is beyond it is counted, too.
TEST(Alike, beyondTheLimit) {
  ScheduleBuilder b(4);
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t i = 0; i < 3; ++i)
      b.sendBytes(r, 8, (r + 1) % 4);
  for (Dag &dag : b.schedule().ranks)
    for (uint32_t i = 0; i < dag.ops.size(); ++i)
      dag.ops[i].loc = {i + 1, 1, 0};
  VerifyOptions options;
  options.maxFailures = 2;
  VerifyReport report = b.verify(options);
  ASSERT_EQ(report.failures.size(), 2u);
  EXPECT_EQ(report.leftOut, 1u);
  EXPECT_EQ(proof::alikeWords(report.failures[1]), "and alike on 3 other ranks (1..3)");
}

TEST(Alike, manyAreCountedAtLeast) {
  std::string words = proof::alikeWords(lonelySends(1500).failures.at(0));
  EXPECT_EQ(words, "and alike on at least 999 other ranks (1..999)");
}

} // namespace
} // namespace colldsl::test
