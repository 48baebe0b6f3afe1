#include "tests/verifier/Collectives.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Contract, wrongBlockInAnAllgather) {
  ScheduleBuilder b = ringAllgather(4);
  Dag &dag = b.schedule().ranks[2];
  const Op &secondSend = dag.ops[3];
  Slice &sent = dag.slices[secondSend.sourceBegin];
  ASSERT_EQ(sent, b.blockOf(BufferId{1}, 1));
  sent = b.blockOf(BufferId{1}, 2);
  dag.deps[secondSend.depBegin].op = OpId{0}; // the copy that wrote this block
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"rank 3: y[8..16] holds x[0..8]@2, but x[0..8]@1 was promised",
                     "recv y[8..16] from 2 wrote it"}))
      << b.verdict();
}

TEST(Contract, shiftedBytes) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.elementsOf(x, 0, 4)}, {b.elementsOf(y, 0, 4)});
  b.copy(0, {b.elementsOf(x, 3, 7)}, {b.elementsOf(y, 4, 8)});
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"y[4..8] holds x[3..7]@0, but x[4..8]@0"}))
      << b.verdict();
}

/// All ranks send x to rank 0, which combines those of `senders` in this order.
ScheduleBuilder gatherAndCombine(uint32_t ranks, const std::vector<uint32_t> &senders,
                                 Reduction reduction) {
  ScheduleBuilder b(ranks);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  for (uint32_t sender : senders) {
    b.send(sender, {b.blockOf(x, 0)}, 0);
    b.recvCombine(0, b.blockOf(y, 0), sender, Side::After, reduction);
  }
  b.ensureReduceAll(0, b.blockOf(y, 0), b.blockOf(x, 0), reduction);
  return b;
}

TEST(Contract, aContributionCountedTwiceAndOneMissing) {
  ScheduleBuilder b = gatherAndCombine(4, {1, 1, 3}, Reduction::Sum);
  VerifyReport report = b.verify();
  ASSERT_TRUE(fails(report, Proof::Contract,
                    {"rank 0: y[0..8] holds sum of x[0..8] at ranks 0, 1, 1, 3",
                     "sum of x[0..8] at ranks 0, 1, 2, 3 was promised",
                     "counted more than once: x[0..8]@1", "missing: x[0..8]@2"}))
      << b.verdict();
  const Failure::Step &bringer = report.failures[0].steps[1];
  EXPECT_NE(bringer.text.find("counts x[0..8]@1 again"), std::string::npos);
  EXPECT_EQ(bringer.op, OpId{4}); // the second combine: copy, recv, combine, recv, combine
  EXPECT_EQ(bringer.loc.line, 5u);
}

TEST(Contract, aMissingContribution) {
  ScheduleBuilder b = gatherAndCombine(3, {1}, Reduction::Sum);
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"missing: x[0..8]@2"})) << b.verdict();
}

TEST(Contract, idempotentOperatorsCountOnceToo) {
  ScheduleBuilder b = gatherAndCombine(2, {1, 1}, Reduction::Max);
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"counted more than once: x[0..8]@1"}))
      << b.verdict();
}

TEST(Contract, anyOrderIfTheOperatorCommutes) {
  EXPECT_TRUE(gatherAndCombine(4, {3, 1, 2}, Reduction::Sum).verify().proved());
}

TEST(Contract, theOrderOfOneThatDoesNot) {
  EXPECT_TRUE(gatherAndCombine(4, {1, 2, 3}, Reduction::MatMul).verify().proved());
  ScheduleBuilder b = gatherAndCombine(4, {3, 1, 2}, Reduction::MatMul);
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"matmul of x[0..8] at ranks 0, 3, 1, 2", "ranks 0, 1, 2, 3 was promised",
                     "does not commute, and the order differs"}))
      << b.verdict();
}

TEST(Contract, anotherOperator) {
  ScheduleBuilder b = gatherAndCombine(2, {1}, Reduction::Sum);
  for (Op &op : b.schedule().ranks[0].ops)
    op.reduction = Reduction::Max;
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"holds max of x[0..8] at ranks 0, 1, but sum of x[0..8] at ranks 0, 1 was "
                     "promised"}))
      << b.verdict();
}

TEST(Contract, anotherElementType) {
  ScheduleBuilder b = gatherAndCombine(2, {1}, Reduction::Sum);
  for (Op &op : b.schedule().ranks[0].ops)
    op.type = ElementType::I64;
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"; combined as i64, promised as i32"}))
      << b.verdict();
}

TEST(Contract, elementsTornApart) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.elementsOf(x, 0, 3)}, {b.elementsOf(y, 0, 3)});
  b.copy(0, {b.elementsOf(x, 4, 5)}, {b.elementsOf(y, 3, 4)});
  OpId combine = b.combine(0, b.elementsOf(x, 0, 4), b.elementsOf(y, 0, 4));
  b.schedule().ranks[0].ops[index(combine)].type = ElementType::I64;
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"elements whose bytes come from different"}))
      << b.verdict();
}

// Sums of 64 bits that begin in the middle of the promised elements.
TEST(Contract, elementsThatBeginElsewhere) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  BufferId halves = b.temp(0, "halves", 2);
  for (BufferId wide : {x, y})
    b.schedule().ranks[0].buffers[index(wide)].type = ElementType::I64;
  b.copy(0, {b.elementsOf(x, 0, 3)}, {b.elementsOf(halves, 0, 6)});
  OpId combine = b.combine(0, b.elementsOf(halves, 1, 5), b.elementsOf(halves, 1, 5));
  b.schedule().ranks[0].ops[index(combine)].type = ElementType::I64;
  b.copy(0, {b.elementsOf(halves, 2, 4)}, {b.elementsOf(y, 1, 2)});
  EntryValue operand{Rank{0}, b.elementsOf(x, 1, 2)};
  b.ensureReduce(0, b.elementsOf(y, 1, 2), {operand, operand});
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"its elements begin at other bytes"}))
      << b.verdict();
  for (uint32_t i : {b.schedule().ranks[0].ops[index(combine)].sourceBegin,
                     b.schedule().ranks[0].ops[index(combine)].targetBegin})
    b.schedule().ranks[0].slices[i] = b.elementsOf(halves, 2, 4);
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST(Contract, aTreeTooDeepToFlattenIsRefusedQuickly) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  for (int i = 0; i < 200; ++i) // y + y, 2^200 contributions
    b.combine(0, b.blockOf(y, 0), b.blockOf(y, 0));
  b.ensureReduceAll(0, b.blockOf(y, 0), b.blockOf(x, 0));
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"counted more than once: x[0..8]@0"}))
      << b.verdict();
}

TEST(Contract, aDeepChainIsProved) {
  constexpr uint32_t kDeep = 3000;
  ScheduleBuilder b(kDeep, 1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.followsData = false;
  OpId before = b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  for (uint32_t r = 1; r < kDeep; ++r) {
    Slice t = b.blockOf(b.temp(0, "t"), 0);
    b.send(r, {b.blockOf(x, 0)}, 0);
    OpId recv = b.recv(0, {t}, r);
    before = b.combine(0, t, b.blockOf(y, 0), Side::After, Reduction::MatMul,
                       {requires_(before), requires_(recv)});
  }
  b.ensureReduceAll(0, b.blockOf(y, 0), b.blockOf(x, 0), Reduction::MatMul);
  EXPECT_TRUE(b.verify().proved());
}

/// Both ranks compute the sum of four operands, each by its own tree.
ScheduleBuilder twoTrees(bool alike) {
  ScheduleBuilder b(2);
  BufferId x = b.param("x", BufferRole::In, 2), y = b.param("y", BufferRole::Out);
  for (uint32_t r = 0; r < 2; ++r) {
    Slice all = b.blocksOf(x, 0, 2);
    BufferId theirs = b.temp(r, "theirs", 2);
    b.send(r, {all}, 1 - r);
    b.recv(r, {b.blocksOf(theirs, 0, 2)}, 1 - r);
    uint32_t lower = alike ? 0 : r;
    for (uint32_t i = 0; i < 4; ++i) {
      Slice part = b.blockOf(i / 2 == (r ^ lower) ? x : theirs, i % 2);
      if (i == 0)
        b.copy(r, {part}, {b.blockOf(y, 0)});
      else
        b.combine(r, part, b.blockOf(y, 0));
    }
    std::vector<EntryValue> operands;
    for (uint32_t i = 0; i < 4; ++i)
      operands.push_back({Rank{i / 2}, b.blockOf(x, i % 2)});
    b.ensureReduce(r, b.blockOf(y, 0), operands);
  }
  b.schedule().deterministic = true;
  return b;
}

TEST(Contract, deterministicWithDifferentTrees) {
  EXPECT_TRUE(twoTrees(true).verify().proved()) << twoTrees(true).verdict();
  ScheduleBuilder b = twoTrees(false);
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"y[0..8] is combined differently on rank 0 and rank 1", "deterministic",
                     "combines (((0 0) 1) 1)", "combines (((1 1) 0) 0)"}))
      << b.verdict();
  b.schedule().deterministic = false;
  EXPECT_TRUE(b.verify().proved());
}

TEST(Contract, barrierThatDoesNotSynchronize) {
  ScheduleBuilder b = disseminationBarrier(5);
  b.schedule().ranks[2].deps.clear(); // its signals no longer wait
  for (Op &op : b.schedule().ranks[2].ops)
    op.depCount = 0;
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"rank 4 may finish before rank 1 has started", "promises to synchronize"}))
      << b.verdict();
}

TEST(Contract, aRankWithoutOpsSynchronizesWithNone) {
  ScheduleBuilder b(2);
  b.schedule().synchronizes = true;
  VerifyReport report = b.verify();
  EXPECT_TRUE(fails(report, Proof::Contract, {"rank 0 may finish before rank 1 has started"}));
  EXPECT_EQ(report.failures.at(0).alike.ranks, std::vector<uint32_t>{1});
}

TEST(Contract, manyRanksSynchronize) {
  EXPECT_TRUE(disseminationBarrier(130).verify().proved());
  ScheduleBuilder b = disseminationBarrier(130);
  Dag &dag = b.schedule().ranks[129];
  dag.ops[dag.size() - 2].depCount = 0; // its last signal waits for nothing
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"may finish before"}));
}

TEST(Contract, aBarrierThatForgetsOneOfManyRanks) {
  constexpr uint32_t kRanks = 130, kForgotten = 100;
  ScheduleBuilder b(kRanks);
  Deps heard;
  for (uint32_t r = 1; r < kRanks; ++r) {
    b.signal(r, 0);
    OpId wait = b.wait(0, r);
    if (r != kForgotten)
      heard.push_back(requires_(wait));
  }
  for (uint32_t r = 1; r < kRanks; ++r) {
    b.signal(0, r, heard);
    b.wait(r, 0);
  }
  b.schedule().synchronizes = true;
  VerifyReport report = b.verify();
  EXPECT_TRUE(fails(report, Proof::Contract, {"rank 1 may finish before rank 100 has started"}))
      << b.verdict();
  EXPECT_FALSE(fails(report, Proof::Contract, {"rank 100 may finish"})) << b.verdict();
}

TEST(Contract, promisesOfDifferentLengths) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.ensure(0, b.elementsOf(y, 0, 4), 0, b.elementsOf(x, 0, 3));
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"has 16 bytes", "x[0..3]@0 of 12 bytes"}))
      << b.verdict();
}

TEST(Contract, aPromiseOutsideItsBuffer) {
  ScheduleBuilder b(1);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.ensure(0, b.elementsOf(y, 4, 9), 0, b.elementsOf(x, 0, 5));
  EXPECT_TRUE(fails(b.verify(), Proof::Contract, {"leaves its buffer y"})) << b.verdict();
}

TEST(Contract, inPlaceFormsNameTheParameter) {
  ScheduleBuilder b = ringAllgatherInPlace(3);
  std::swap(b.schedule().ranks[1].contract.operands[0], b.schedule().ranks[1].contract.operands[2]);
  EXPECT_TRUE(fails(b.verify(), Proof::Contract,
                    {"rank 1: y[0..8] holds x[0..8]@0, but x[0..8]@2 was promised"}))
      << b.verdict();
}

} // namespace
} // namespace colldsl::test
