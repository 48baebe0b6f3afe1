// Collectives that are right are proved, at every rank count.
#include "tests/verifier/Collectives.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

class Proved : public testing::TestWithParam<uint32_t> {};

void expectProved(const ScheduleBuilder &b) {
  VerifyReport report = b.verify();
  EXPECT_TRUE(report.proved()) << b.verdict();
  EXPECT_TRUE(report.contractChecked);
}

TEST_P(Proved, ringAllgather) { expectProved(ringAllgather(GetParam())); }
TEST_P(Proved, ringAllgatherInPlace) { expectProved(ringAllgatherInPlace(GetParam())); }
TEST_P(Proved, raggedAllgather) { expectProved(raggedAllgather(GetParam())); }
TEST_P(Proved, capacityAllgather) { expectProved(capacityAllgather(GetParam())); }
TEST_P(Proved, bruckAllgather) { expectProved(bruckAllgather(GetParam())); }
TEST_P(Proved, pairwiseAlltoall) { expectProved(pairwiseAlltoall(GetParam())); }
TEST_P(Proved, disseminationBarrier) { expectProved(disseminationBarrier(GetParam())); }
TEST_P(Proved, ringAllreduce) { expectProved(ringAllreduce(GetParam())); }
TEST_P(Proved, recursiveDoubling) { expectProved(recursiveDoublingAllreduce(GetParam())); }
TEST_P(Proved, chainReduceKeepsTheOrder) { expectProved(chainReduce(GetParam())); }
TEST_P(Proved, recursiveDoublingKeepsTheOrder) {
  expectProved(recursiveDoublingAllreduce(GetParam(), Reduction::MatMul));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Proved, testing::Range(1u, 10u));

TEST(Proved, countsOpsAndMessages) {
  VerifyReport report = ringAllgather(4).verify();
  EXPECT_EQ(report.ops, 4u * 7);
  EXPECT_EQ(report.messages, 4u * 3);
}

TEST(Proved, zeroElements) { expectProved(ringAllgather(4, 0)); }

TEST(Proved, largeRing) { expectProved(ringAllgather(64, 3)); }

TEST(Proved, plainGoalHasNoContract) {
  ScheduleBuilder b(2);
  b.schedule().hasContract = false;
  b.sendBytes(0, 100, 1);
  b.recvBytes(1, 100, 0);
  VerifyReport report = b.verify();
  EXPECT_TRUE(report.proved());
  EXPECT_FALSE(report.contractChecked);
  EXPECT_EQ(report.messages, 1u);
}

TEST(Proved, selfMessage) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.send(0, {b.blockOf(x, 0)}, 0);
  b.recv(0, {b.blockOf(y, 0)}, 0);
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  expectProved(b);
}

} // namespace
} // namespace colldsl::test
