// GOAL in binary, in and out.

#include "formats/GoalBinary.h"
#include "tests/ir/DescribeErrors.h"
#include "tests/ir/Schedules.h"

#include <algorithm>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace colldsl {
namespace {

Schedule parse(const std::string &text) {
  ParsedText parsed = parseText(text, "test.goal");
  EXPECT_EQ(describeErrors(parsed.errors, "test.goal"), "");
  return parsed.schedule;
}

std::string readGoal(const std::string &name) {
  std::ifstream file(std::string(COLLDSL_GOAL_FILES) + "/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::byte> encode(const Schedule &schedule) {
  Result<std::vector<std::byte>> bytes = encodeGoal(schedule, {.localOpsAsCalc = true});
  EXPECT_TRUE(bytes) << bytes.message();
  return bytes.take();
}

std::string print(const Schedule &schedule) {
  Result<std::string> text = printGoal(schedule, {.localOpsAsCalc = true});
  EXPECT_TRUE(text) << text.message();
  return *text;
}

std::string reprint(std::span<const std::byte> bytes) {
  Result<Schedule> schedule = decodeGoal(bytes, "test.bin");
  return schedule ? print(*schedule) : "error: " + schedule.message();
}

std::string errorOf(std::span<const std::byte> bytes, TextLimits limits = {}) {
  Result<Schedule> schedule = decodeGoal(bytes, "test.bin", limits);
  return schedule ? "" : schedule.message();
}

// Rank 0: l0 releases l1 when it ends, l2 when it starts. 2 nodes on rank 1.
constexpr const char *kSmall = "num_ranks 2\n"
                               "\n"
                               "rank 0 {\n"
                               "l0: send 8b to 1 tag 3 cpu 2 nic 1\n"
                               "l1: recv 9b from 1 tag 4\n"
                               "l1 requires l0\n"
                               "l2: calc 70000000000 cpu 1\n"
                               "l2 irequires l0\n"
                               "}\n"
                               "\n"
                               "rank 1 {\n"
                               "l0: recv 8b from 0 tag 3\n"
                               "l1: send 9b to 0 tag 4\n"
                               "l1 requires l0\n"
                               "}\n";

// Places in the file of kSmall, in bytes.
constexpr size_t kRanks = 8, kTable = 14, kRank0 = 14 + 32, kRoots0 = kRank0 + 8,
                 kNodes0 = kRoots0 + 4, kNodeSize = 39, kSuccessors0 = kNodes0 + 3 * kNodeSize,
                 kRank1 = kSuccessors0 + 8;

class Small : public ::testing::Test {
protected:
  std::vector<std::byte> bytes = encode(parse(kSmall));

  template <typename T> T at(size_t place) const {
    T value;
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  }
  /// What decoding says once the number at the place is another.
  template <typename T> std::string with(size_t place, T value) const {
    std::vector<std::byte> changed = bytes;
    std::memcpy(changed.data() + place, &value, sizeof value);
    return errorOf(changed);
  }
};

TEST_F(Small, IsLaidOutAsOtherToolsReadIt) {
  EXPECT_EQ(bytes.size(), kRank1 + 8 + 4 + 2 * kNodeSize + 4);
  EXPECT_EQ(at<uint64_t>(0), 4223u);
  EXPECT_EQ(at<uint32_t>(kRanks), 2u);
  EXPECT_EQ(at<uint8_t>(12), 2u) << "the largest cpu";
  EXPECT_EQ(at<uint8_t>(13), 1u) << "the largest nic";
  EXPECT_EQ(at<uint64_t>(kTable), kRank0 - 8) << "counts from behind the magic";
  EXPECT_EQ(at<uint64_t>(kTable + 8), kRank1 - 8);
  EXPECT_EQ(at<uint64_t>(kTable + 24), bytes.size() - 8);
  EXPECT_EQ(at<uint32_t>(kRank0), 3u) << "nodes";
  EXPECT_EQ(at<uint32_t>(kRank0 + 4), 1u) << "roots";
  EXPECT_EQ(at<uint32_t>(kRoots0), 0u);
  EXPECT_EQ(at<uint32_t>(kSuccessors0), 1u);
  EXPECT_EQ(at<uint32_t>(kSuccessors0 + 4), 2u);
}

TEST_F(Small, NodesHaveTheirFieldsInOrder) {
  EXPECT_EQ(at<uint32_t>(kNodes0), 0u) << "indegree";
  EXPECT_EQ(at<uint8_t>(kNodes0 + 4), 1u) << "a send";
  EXPECT_EQ(at<uint32_t>(kNodes0 + 5), 1u) << "peer";
  EXPECT_EQ(at<uint64_t>(kNodes0 + 9), 8u) << "size";
  EXPECT_EQ(at<uint32_t>(kNodes0 + 17), 3u) << "tag";
  EXPECT_EQ(at<uint8_t>(kNodes0 + 21), 2u) << "cpu";
  EXPECT_EQ(at<uint8_t>(kNodes0 + 22), 1u) << "nic";
  EXPECT_EQ(at<uint32_t>(kNodes0 + 23), 1u) << "how many require it";
  EXPECT_EQ(at<uint32_t>(kNodes0 + 27), 0u);
  EXPECT_EQ(at<uint32_t>(kNodes0 + 31), 1u) << "how many irequire it";
  EXPECT_EQ(at<uint32_t>(kNodes0 + 35), 1u);
  EXPECT_EQ(at<uint8_t>(kNodes0 + kNodeSize + 4), 2u) << "a recv";
  EXPECT_EQ(at<uint8_t>(kNodes0 + 2 * kNodeSize + 4), 3u) << "a calc";
  EXPECT_EQ(at<uint64_t>(kNodes0 + 2 * kNodeSize + 9), 70000000000u) << "nanoseconds";
  EXPECT_EQ(at<uint32_t>(kNodes0 + 2 * kNodeSize), 1u) << "irequires counts as well";
}

TEST_F(Small, TextComesBackToTheByte) { EXPECT_EQ(reprint(bytes), kSmall); }

TEST_F(Small, IsNamedForItsFile) {
  Result<Schedule> schedule = decodeGoal(bytes, "test.bin");
  ASSERT_TRUE(schedule) << schedule.message();
  EXPECT_EQ(schedule->name, "test.bin");
  EXPECT_FALSE(schedule->hasContract);
  EXPECT_FALSE(schedule->ranks[0].ops[0].loc.known());
}

TEST_F(Small, RefusesHeaders) {
  EXPECT_EQ(errorOf({}), "the file has 0 bytes, its header takes 14");
  EXPECT_EQ(with<uint64_t>(0, 4224), "the file begins with 4224, GOAL in binary with 4223");
  EXPECT_EQ(with<uint64_t>(0, 2342), "a simulator has worked in this file and left it unusable "
                                     "(it begins with 2342, not 4223)");
  EXPECT_EQ(with<uint32_t>(kRanks, 200),
            "the file has 277 bytes, the table of 200 ranks ends at byte 3214");
  EXPECT_EQ(with<uint32_t>(kRanks, UINT32_MAX),
            "the file has 4294967295 ranks, the limit is 16777216");
  EXPECT_EQ(errorOf(bytes, {.maxBytes = 100}),
            "the file has 277 bytes, the limit is 100 (--max-source-bytes)");
  EXPECT_EQ(errorOf(bytes, {.maxOps = 4}),
            "there are more ops than the limit of 4 (--max-total-ops)");
  EXPECT_EQ(errorOf(bytes, {.maxRanks = 1}), "the file has 2 ranks, the limit is 1");
}

TEST_F(Small, RefusesPartsThatAreNotTheRanks) {
  EXPECT_EQ(with<uint64_t>(kTable, 3),
            "rank 0: begins at byte 3, what stands before it ends at 38");
  EXPECT_EQ(with<uint64_t>(kTable + 8, UINT64_MAX),
            "rank 0: lies from byte 38 to 18446744073709551615, the file ends at 269");
  EXPECT_EQ(with<uint64_t>(kTable + 8, 37),
            "rank 0: lies from byte 38 to 37, the file ends at 269");
  EXPECT_EQ(with<uint64_t>(kTable + 16, 38),
            "rank 1: begins at byte 38, what stands before it ends at 175");
  EXPECT_EQ(with<uint64_t>(kTable + 8, 40), "rank 0: has 2 bytes, its counts alone take 8");
  EXPECT_EQ(with<uint32_t>(kRank0, 4), "rank 0: has 137 bytes, 4 nodes and 1 roots take 168");
  EXPECT_EQ(with<uint32_t>(kRank0, UINT32_MAX),
            "rank 0: has 137 bytes, 4294967295 nodes and 1 roots take 167503724517");
  EXPECT_EQ(with<uint32_t>(kRank0, 2), "rank 0: has 47 bytes of successors, each takes 4");
}

TEST_F(Small, RefusesNodes) {
  EXPECT_EQ(with<uint8_t>(kNodes0 + 4, 0), "rank 0: node 0: is of type 0, types are 1 to 3");
  EXPECT_EQ(with<uint8_t>(kNodes0 + 4, 4), "rank 0: node 0: is of type 4, types are 1 to 3");
  EXPECT_EQ(with<uint32_t>(kNodes0 + 5, 2), "rank 0: node 0: send with rank 2, there are 2");
  EXPECT_EQ(with<uint32_t>(kNodes0 + kNodeSize + 5, UINT32_MAX),
            "rank 0: node 1: recv with any rank: matching is static");
  EXPECT_EQ(with<uint32_t>(kNodes0 + kNodeSize + 17, UINT32_MAX),
            "rank 0: node 1: recv of any tag: matching is static");
}

TEST_F(Small, RefusesEdges) {
  EXPECT_EQ(with<uint32_t>(kNodes0 + 27, 2),
            "rank 0: node 0: names successors 2 to 3 that require it, there are 2");
  EXPECT_EQ(with<uint32_t>(kNodes0 + 31, UINT32_MAX),
            "rank 0: node 0: names successors 1 to 4294967296 that irequire it, there are 2");
  EXPECT_EQ(
      with<uint32_t>(kNodes0 + 23, 2),
      "rank 0: node 0: lists of successors overlap: the nodes up to here name 3, there are 2");
  EXPECT_EQ(with<uint32_t>(kSuccessors0, 3), "rank 0: node 0: is followed by node 3, there are 3");
  EXPECT_EQ(with<uint32_t>(kNodes0 + kNodeSize, 2),
            "rank 0: node 1: waits for 2 edges, 1 lead there");
  EXPECT_EQ(with<uint32_t>(kRoots0, 7), "rank 0: root 0 is node 7, there are 3");
  EXPECT_EQ(with<uint32_t>(kRoots0, 1), "rank 0: node 1: is a root, but 1 edges lead there");
}

TEST(GoalBinary, RefusesRootsThatAreMissingOrThereTwice) {
  std::vector<std::byte> bytes = encode(parse("num_ranks 1\nrank 0 {\ncalc 1\ncalc 2\n}\n"));
  uint32_t zero = 0;
  std::memcpy(bytes.data() + 14 + 16 + 8 + 4, &zero, sizeof zero);
  EXPECT_EQ(errorOf(bytes), "rank 0: node 0: is a root twice");
  bytes = encode(parse("num_ranks 1\nrank 0 {\nb: calc 1\na: calc 2\na requires b\n}\n"));
  uint32_t none = 0; // the only edge is gone
  std::memcpy(bytes.data() + 14 + 16 + 8 + 4 + 23, &none, sizeof none);
  std::memcpy(bytes.data() + 14 + 16 + 8 + 4 + kNodeSize, &none, sizeof none);
  EXPECT_EQ(errorOf(bytes), "rank 0: node 1: no edge leads there, and it is no root");
}

// l0 -> l2 -> l3, and then the edge from l2 leads to l0 instead.
TEST(GoalBinary, RefusesCycles) {
  std::vector<std::byte> bytes =
      encode(parse("num_ranks 1\nrank 0 {\nl0: calc 1\nl1: calc 2\nl2: calc 3\nl3: calc 4\n"
                   "l2 requires l0\nl2 requires l1\nl3 requires l2\n}\n"));
  size_t part = 14 + 16, nodes = part + 8 + 2 * 4, successors = nodes + 4 * kNodeSize;
  auto set = [&](size_t place, uint32_t value) {
    std::memcpy(bytes.data() + place, &value, sizeof value);
  };
  set(successors + 2 * 4, 0);    // l3 is released by no op, l0 by l2
  set(nodes, 1);                 // indegree of l0
  set(nodes + 3 * kNodeSize, 0); // of l3
  set(part + 8, 3);              // the first root
  EXPECT_EQ(errorOf(bytes), "rank 0: node 0: waits for itself, in a cycle of 2 nodes: it waits "
                            "for node 2, which waits for node 0");
}

// A node that depends on a later one moves behind it.
TEST(GoalBinary, NodesMayComeInAnyOrder) {
  std::vector<std::byte> bytes =
      encode(parse("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}\n"));
  size_t part = 14 + 16, nodes = part + 8 + 4;
  std::vector<std::byte> first(bytes.begin() + nodes, bytes.begin() + nodes + kNodeSize);
  std::copy(bytes.begin() + nodes + kNodeSize, bytes.begin() + nodes + 2 * kNodeSize,
            bytes.begin() + nodes);
  std::copy(first.begin(), first.end(), bytes.begin() + nodes + kNodeSize);
  uint32_t one = 1, zero = 0;
  std::memcpy(bytes.data() + part + 8, &one, 4);               // the root
  std::memcpy(bytes.data() + nodes + 2 * kNodeSize, &zero, 4); // its successor
  EXPECT_EQ(reprint(bytes), "num_ranks 1\n\nrank 0 {\nl0: calc 1\nl1: calc 2\nl1 requires l0\n}\n");
}

TEST(GoalBinary, EmptyRanksAndNoRanks) {
  for (const char *text : {"num_ranks 0\n", "num_ranks 2\n\nrank 0 {\n}\n\nrank 1 {\n}\n"})
    EXPECT_EQ(reprint(encode(parse(text))), text);
}

TEST(GoalBinary, HoldsTheLargestNumbers) {
  std::string text = "num_ranks 1\n\nrank 0 {\n"
                     "l0: send 18446744073709551615b to 0 tag 4294967294 cpu 255 nic 255\n"
                     "l1: recv 18446744073709551615b from 0 tag 4294967294 cpu 255 nic 255\n"
                     "}\n";
  EXPECT_EQ(reprint(encode(parse(text))), text);
}

TEST(GoalBinary, GoalFilesComeBackAsTheirText) {
  for (const char *name :
       {"crlf.goal", "forward.goal", "inside.goal", "loose.goal", "pingpong.goal", "sample.goal"}) {
    Schedule schedule = parse(readGoal(name));
    EXPECT_EQ(reprint(encode(schedule)), print(schedule)) << name;
  }
}

TEST(GoalBinary, SchedulesComeBackAsTheirGoal) {
  for (uint32_t ranks : {1u, 2u, 5u, 8u})
    EXPECT_EQ(reprint(encode(ringSchedule(ranks))), print(ringSchedule(ranks))) << ranks;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Schedule schedule = randomSchedule(seed);
    Result<std::string> goal = printGoal(schedule, {.localOpsAsCalc = true});
    Result<std::vector<std::byte>> bytes = encodeGoal(schedule, {.localOpsAsCalc = true});
    ASSERT_EQ(goal.ok(), bytes.ok()) << seed;
    if (goal)
      EXPECT_EQ(reprint(*bytes), *goal) << seed;
    else
      EXPECT_EQ(bytes.message(), goal.message()) << seed;
  }
}

TEST(GoalBinary, RefusesOpsThatGoalLacks) {
  Schedule schedule = parse(readGoal("sample.goal"));
  Result<std::vector<std::byte>> bytes = encodeGoal(schedule);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.message(), "rank 0, op l2: GOAL cannot say a copy");
  EXPECT_EQ(bytes.status().diagnostic().hint, "--local-as-calc writes copies and combines as calc");
  EXPECT_EQ(bytes.status().diagnostic().loc, (SourceLoc{6, 3, 0}));
}

} // namespace
} // namespace colldsl
