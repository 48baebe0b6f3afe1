// The verifier against a machine that tries random schedules out.
#include "tests/verifier/Oracle.h"
#include "tests/verifier/RandomSchedule.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr uint32_t kSchedules = 1000;

bool hasFailure(const VerifyReport &report, std::initializer_list<Proof> proofs) {
  for (const Failure &failure : report.failures)
    for (Proof proof : proofs)
      if (failure.proof == proof)
        return true;
  return false;
}

/// How often each verdict came up: a comparison that never sees one proves nothing.
struct Tally {
  uint32_t deadlocks = 0, races = 0, broken = 0, proved = 0;
};

void compare(uint32_t seed, Tally &tally) {
  ScheduleBuilder b = RandomSchedule(seed).make();
  VerifyOptions options;
  options.channelSlots = seed % 4;
  VerifyReport report = b.verify(options);
  Oracle oracle(b.schedule(), b.sizes(), options.channelSlots, seed);
  ASSERT_FALSE(hasFailure(report, {Proof::Matching})) << b.verdict(options);
  bool deadlocks = oracle.deadlocks();
  ASSERT_EQ(hasFailure(report, {Proof::Deadlock}), deadlocks) << b.verdict(options);
  if (deadlocks)
    return void(++tally.deadlocks);
  bool races = oracle.races();
  ASSERT_EQ(hasFailure(report, {Proof::Races}), races) << b.verdict(options);
  if (races)
    return void(++tally.races);
  bool broken = oracle.breaksContract();
  ASSERT_EQ(hasFailure(report, {Proof::Contract, Proof::Writes}), broken) << b.verdict(options);
  ++(broken ? tally.broken : tally.proved);
}

TEST(Differential, verdictsAgreeWithAMachine) {
  Tally tally;
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    compare(seed, tally);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
  for (uint32_t count : {tally.deadlocks, tally.races, tally.broken, tally.proved})
    EXPECT_GT(count, kSchedules / 20);
}

} // namespace
} // namespace colldsl::test
