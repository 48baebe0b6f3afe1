// Messages that say how they travel: each rule once, against times worked out by hand.
#include "ir/TextForm.h"
#include "simulator/CriticalPath.h"
#include "simulator/Simulate.h"

#include <gtest/gtest.h>

namespace colldsl::sim {
namespace {

// L = 100, o = 10, g = 20, G = 1, O = 0; messages of 1001 bytes take 1000 ns to pass.
constexpr uint64_t kL = 100, kO = 10, kG = 20, kBytes = 1000;

Schedule parse(const std::string &ranks) {
  ParsedText parsed = parseText("schedule \"ways\"\n" + ranks, "text", TextLimits());
  EXPECT_TRUE(parsed.errors.empty()) << parsed.errors.front().message;
  return std::move(parsed.schedule);
}

std::string replaced(std::string text, const std::string &way) {
  for (size_t at; (at = text.find("WAY")) != text.npos;)
    text.replace(at, 3, way);
  return text;
}

SimulateOptions options(uint64_t S = UINT64_MAX) {
  SimulateOptions options;
  options.model = MachineModel::flat({kL, kO, kG, PerByte::fromNs(1), PerByte(), S});
  return options;
}

std::vector<uint64_t> finish(const std::string &ranks, const std::string &way,
                             const SimulateOptions &given = options()) {
  Schedule schedule = parse(replaced(ranks, way));
  Result<Workload> workload = packSchedule(schedule, {}, {});
  EXPECT_TRUE(workload.ok()) << workload.message();
  if (!workload)
    return {};
  Result<Outcome> outcome = simulate(*workload, given);
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  return outcome ? outcome->finish : std::vector<uint64_t>();
}

using Times = std::vector<uint64_t>;

// Rank 1 calculates for 5000 ns before it receives; rank 0 for 1 ns once it has sent.
const char *const kLate =
    "num_ranks 2\n"
    "rank 0 {\na: send 1001b to 1 tag 0WAY\nb: calc 1\nb requires a\n}\n"
    "rank 1 {\na: calc 5000\nb: recv 1001b from 0 tag 0WAY\nb requires a\n}\n";
const char *const kPair = "num_ranks 2\nrank 0 {\nsend 1001b to 1 tag 0WAY\n}\n"
                          "rank 1 {\nrecv 1001b from 0 tag 0WAY\n}\n";
const char *const kOneToTwo = "num_ranks 3\n"
                              "rank 0 {\nsend 1001b to 1 tag 0WAY\nsend 1001b to 2 tag 0WAY\n}\n"
                              "rank 1 {\nrecv 1001b from 0 tag 0WAY\n}\n"
                              "rank 2 {\nrecv 1001b from 0 tag 0WAY\n}\n";
const char *const kTwoToOne =
    "num_ranks 3\n"
    "rank 0 {\nrecv 1001b from 1 tag 0WAY\nrecv 1001b from 2 tag 0WAY\n}\n"
    "rank 1 {\nsend 1001b to 0 tag 0WAY\n}\n"
    "rank 2 {\nsend 1001b to 0 tag 0WAY\n}\n";

TEST(Ways, EagerAndRendezvousCountInsteadOfS) {
  // The processor is busy until 5000, takes the message in until 6010, and meets it at 5000.
  EXPECT_EQ(finish(kLate, ""), (Times{kO + 1, 5000 + kO + kBytes}));
  EXPECT_EQ(finish(kLate, " via eager", options(0)), finish(kLate, ""));
  EXPECT_EQ(finish(kLate, " via rendezvous"), finish(kLate, "", options(0)));
  EXPECT_GT(finish(kLate, " via rendezvous")[0], 5000u);
}

TEST(Ways, OneMessageTakesAsLongWhoeverCopies) {
  Times usual{kO, kO + kL + kO + kBytes};
  EXPECT_EQ(finish(kPair, ""), usual);
  // The writer is done when the reader is.
  EXPECT_EQ(finish(kPair, " mover reader"), (Times{usual[1], usual[1]}));
  EXPECT_EQ(finish(kPair, " mover writer"), (Times{kO + kBytes, usual[1]}));
  EXPECT_EQ(finish(kPair, " via static canary"), usual);
}

TEST(Ways, ReadersOfOneRankCopyAtTheSameTime) {
  uint64_t one = kO + kL + kO + kBytes;
  EXPECT_EQ(finish(kOneToTwo, ""), (Times{kG + kBytes + kO, one, one + kG + kBytes}));
  EXPECT_EQ(finish(kOneToTwo, " mover reader"), (Times{one + kG, one, one + kG}));
}

TEST(Ways, WritersOfOneRankCopyAtTheSameTime) {
  uint64_t one = kO + kL + kO + kBytes;
  EXPECT_EQ(finish(kTwoToOne, ""), (Times{one + kG + kBytes, kO, kO}));
  EXPECT_EQ(finish(kTwoToOne, " mover writer"), (Times{one + kG, kO + kBytes, kO + kBytes}));
}

TEST(Ways, ACopyBeginsWhenBothEndsAreThere) {
  // Read from 5000 on; written from 5000 on, and told L later.
  EXPECT_EQ(finish(kLate, " mover reader"), (Times{5000 + kO + kBytes + 1, 5000 + kO + kBytes}));
  EXPECT_EQ(finish(kLate, " mover writer"),
            (Times{5000 + kO + kBytes + 1, 5000 + kO + kBytes + kL + kO}));
  EXPECT_EQ(finish(kLate, " via static canary"),
            (Times{5000 + kO + 1, 5000 + 2 * kO + kL + kBytes}));
  // Announced: by other ops, so that the data comes at once; the processor takes o after 5000.
  EXPECT_EQ(finish(kLate, " via static canary announced"), (Times{kO + 1, 5000 + kO}));
}

TEST(Ways, AStaticMessageIsFollowedByAFlagUnlessItHasACanary) {
  // The flag starts when the interface is done with the data, and is a message of its own.
  EXPECT_EQ(finish(kPair, " via static"), (Times{2 * kO, kG + kBytes + kO + kL + kO}));
}

TEST(Ways, ANoticeCostsItsSenderTheTimeOfTheModel) {
  constexpr uint64_t kNotice = 7;
  SimulateOptions telling = options();
  for (LogGop &p : telling.model.distances)
    p.notice = kNotice;
  for (const char *way : {"", " via eager", " mover writer", " via static canary announced"})
    EXPECT_EQ(finish(kPair, way, telling), finish(kPair, way)) << way;
  uint64_t one = kO + kL + kO + kBytes;
  EXPECT_EQ(finish(kPair, " via static canary", telling), (Times{kNotice + kO, kNotice + one}));
  EXPECT_EQ(finish(kPair, " via static", telling),
            (Times{kNotice + 2 * kO, kNotice + kG + kBytes + kO + kL + kO}));
  // Each has its own, and the interface waits for it.
  EXPECT_EQ(
      finish(kOneToTwo, " via static canary", telling),
      (Times{2 * kNotice + kG + kBytes + kO, kNotice + one, 2 * kNotice + kG + kBytes + one}));
}

TEST(Ways, AStaticMessageTakesTheReceiversProcessorForOnlyO) {
  // A calc of 900 ns during the transfer delays a message that the processor takes in, not this.
  const char *const busy = "num_ranks 2\nrank 0 {\nsend 1001b to 1 tag 0WAY\n}\n"
                           "rank 1 {\nrecv 1001b from 0 tag 0WAY\ncalc 900\n}\n";
  EXPECT_EQ(finish(busy, "")[1], 900 + kO + kBytes);
  EXPECT_EQ(finish(busy, " via static canary")[1], kO + kL + kBytes + kO);
  // Its interface still takes one after the other.
  uint64_t one = kO + kL + kO + kBytes;
  EXPECT_EQ(finish(kTwoToOne, " via static canary"), (Times{one + kG + kBytes, kO, kO}));
}

// Rank 0 sends over the longest way, first of all. When its message arrives the last one is in line
// already, and waits for the interface alone.
TEST(Ways, MessagesAreReceivedInTheOrderOfTheirSends) {
  Topology topology = *Topology::make("node:2 core:3 bind=0,3,4,5", 4);
  SimulateOptions far = options();
  far.model.distances[kMaxDistance].L = 1000;
  far.topology = &topology;
  Schedule schedule = parse("num_ranks 4\n"
                            "rank 0 {\nsend 1001b to 2 tag 0\n}\n"
                            "rank 1 {\nsend 1001b to 2 tag 0 via static canary\n}\n"
                            "rank 2 {\nrecv 1001b from 0 tag 0\n"
                            "recv 1001b from 1 tag 0 via static canary\n"
                            "recv 1001b from 3 tag 0 via static canary\ncalc 5000\n}\n"
                            "rank 3 {\na: calc 500\nb: send 1001b to 2 tag 0 via static canary\n"
                            "b requires a\n}\n");
  WorkloadOptions packing;
  packing.topology = &topology;
  Result<Workload> workload = packSchedule(schedule, {}, packing);
  ASSERT_TRUE(workload.ok()) << workload.message();
  Result<Outcome> outcome = simulate(*workload, far);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(outcome->finish[2], 5000 + kG + kBytes + kBytes + kO);
}

TEST(Ways, PathsLeadThroughMessagesThatWaited) {
  for (const char *way : {" mover reader", " mover writer", " via static", " via static canary"}) {
    Schedule schedule = parse(replaced(kLate, way));
    Result<Workload> workload = packSchedule(schedule, {}, {});
    ASSERT_TRUE(workload.ok());
    SimulateOptions recording = options();
    recording.record = true;
    Result<Outcome> outcome = simulate(*workload, recording);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_EQ(outcome->finish, finish(kLate, way)) << way;
    Result<std::vector<PathStep>> path = criticalPath(*workload, *outcome->recording, 1);
    ASSERT_TRUE(path.ok());
    EXPECT_EQ(path->front().what.kind, OpKind::Calc) << way;
    EXPECT_EQ(path->back().end, outcome->finish[1]) << way;
  }
}

TEST(Ways, BothEndsMustAgree) {
  Schedule schedule = parse("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0 via eager\n}\n"
                            "rank 1 {\nrecv 8b from 0 tag 0\n}\n");
  Result<Workload> workload = packSchedule(schedule, {}, {});
  ASSERT_FALSE(workload.ok());
  EXPECT_NE(workload.message().find("travels in another way"), std::string::npos)
      << workload.message();
}

TEST(Ways, ADeadlockNamesTheSendThatAwaitsItsReceive) {
  Schedule schedule =
      parse("num_ranks 2\n"
            "rank 0 {\na: send 8b to 1 tag 0 mover writer\nb: send 8b to 1 tag 1\nb requires a\n}\n"
            "rank 1 {\na: recv 8b from 0 tag 1\nb: recv 8b from 0 tag 0 mover writer\n"
            "b requires a\n}\n");
  Result<Workload> workload = packSchedule(schedule, {}, {});
  ASSERT_TRUE(workload.ok());
  Result<Outcome> outcome = simulate(*workload, options());
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.message().find("deadlock"), std::string::npos);
  ASSERT_FALSE(outcome.status().diagnostic().notes.empty());
  EXPECT_NE(outcome.status().diagnostic().notes[0].message.find("never started"),
            std::string::npos);
}

} // namespace
} // namespace colldsl::sim
