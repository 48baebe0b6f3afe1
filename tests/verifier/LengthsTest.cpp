// Proofs for all lengths of blocks: each pattern of empty blocks, at several lengths, must be
// judged alike when it is proved alone.
#include "tests/verifier/ScheduleBuilder.h"
#include "verifier/Alignment.h"
#include "verifier/ProvedSizes.h"

#include <array>
#include <gtest/gtest.h>
#include <random>

namespace colldsl::test {
namespace {

using proof::Alignment;
using proof::alignmentOf;
using proof::Length;

constexpr LengthId kA{0}, kB{1};

VerifyReport all(const ScheduleBuilder &b) {
  return verifyAllLengths(const_cast<ScheduleBuilder &>(b).schedule(), b.n());
}

std::string words(const VerifyReport &report, ScheduleBuilder &b) {
  return describe(report, b.schedule());
}

TEST(Lengths, listsAreAlignedIfBlocksStandOppositeEachOther) {
  std::vector<Length> one{{3, kFixedLength}, {8, kA}},
      two{{1, kFixedLength}, {2, kFixedLength}, {8, kA}};
  EXPECT_EQ(alignmentOf(one, two), Alignment::Same);
  std::vector<Length> ab{{8, kA}, {8, kB}}, ba{{8, kB}, {8, kA}}, a{{8, kA}}, b{{8, kB}};
  EXPECT_EQ(alignmentOf(ab, ba), Alignment::Shifted);
  EXPECT_EQ(alignmentOf(a, b), Alignment::Unequal);
  EXPECT_EQ(alignmentOf(a, ab), Alignment::Unequal);
  std::vector<Length> late{{8, kA}, {3, kFixedLength}};
  EXPECT_EQ(alignmentOf(one, late), Alignment::Shifted);
  std::vector<Length> fixed{{8, kFixedLength}};
  EXPECT_EQ(alignmentOf(a, fixed), Alignment::Unequal);
  EXPECT_EQ(alignmentOf({}, {}), Alignment::Same);
}

/// Two ranks send each other a block; the second message requires the first.
ScheduleBuilder cycleOfTwo() {
  ScheduleBuilder b(2);
  BufferId x = b.ragged("x", BufferRole::In, {1}), y = b.ragged("y", BufferRole::Out, {1});
  for (uint32_t r = 0; r < 2; ++r) {
    OpId got = b.recv(r, {b.raggedBlock(y, 0)}, 1 - r);
    b.send(r, {b.raggedBlock(x, 0)}, 1 - r, {requires_(got)});
    b.ensure(r, b.raggedBlock(y, 0), 1 - r, b.raggedBlock(x, 0));
  }
  return b;
}

TEST(Lengths, aCycleClosesIfNoBlockIsEmpty) {
  ScheduleBuilder b = cycleOfTwo();
  EXPECT_TRUE(fails(all(b), Proof::Deadlock, {"wait for each other"})) << words(all(b), b);
}

TEST(Lengths, messagesThatMayBeEmptyDoNotSynchronize) {
  ScheduleBuilder b(2);
  BufferId x = b.ragged("x", BufferRole::In, {1}), y = b.ragged("y", BufferRole::Out, {1});
  for (uint32_t r = 0; r < 2; ++r) {
    b.send(r, {b.raggedBlock(x, 0)}, 1 - r);
    b.recv(r, {b.raggedBlock(y, 0)}, 1 - r);
    b.ensure(r, b.raggedBlock(y, 0), 1 - r, b.raggedBlock(x, 0));
  }
  EXPECT_TRUE(all(b).proved()) << words(all(b), b);
  b.schedule().synchronizes = true;
  EXPECT_TRUE(fails(all(b), Proof::Contract, {"has started, where all blocks are empty"}))
      << words(all(b), b);
}

/// Rank 0 writes d, tells rank 1 by a message of block 0, which answers; then rank 0 reads d.
ScheduleBuilder orderedByBlock(bool onDense) {
  ScheduleBuilder b(2);
  BufferId x = b.ragged("x", BufferRole::In, {1, 1}), y = b.ragged("y", BufferRole::Out, {1, 1});
  BufferId z = b.ragged("z", BufferRole::Out, {1, 1});
  BufferId d = b.param("d", BufferRole::In), e = b.param("e", BufferRole::Out);
  b.followsData = false;
  // The write and the read of z's block, or of e, are ordered by a message of block 0 alone.
  OpId first = b.copy(0, {onDense ? b.blockOf(d, 0) : b.raggedBlock(x, 1)},
                      {onDense ? b.blockOf(e, 0) : b.raggedBlock(z, 1)});
  b.send(0, {b.raggedBlock(x, 0)}, 1, {requires_(first)});
  OpId got = b.recv(1, {b.raggedBlock(y, 0)}, 0);
  b.signal(1, 0, {requires_(got)});
  OpId told = b.wait(0, 1);
  b.copy(0, {onDense ? b.blockOf(d, 0) : b.raggedBlock(x, 1)},
         {onDense ? b.blockOf(e, 0) : b.raggedBlock(z, 1)}, {requires_(told)});
  b.ensure(1, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
  if (onDense)
    b.ensure(0, b.blockOf(e, 0), 0, b.blockOf(d, 0));
  else
    b.ensure(0, b.raggedBlock(z, 1), 0, b.raggedBlock(x, 1));
  return b;
}

TEST(Lengths, aMessageOfAnotherBlockOrdersNothing) {
  ScheduleBuilder b = orderedByBlock(false), dense = orderedByBlock(true);
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
  EXPECT_TRUE(fails(all(b), Proof::Races, {"neither waits", "where all other blocks are empty"}))
      << words(all(b), b);
  EXPECT_TRUE(fails(all(dense), Proof::Races, {"neither waits", "where all blocks are empty"}))
      << words(all(dense), dense);
}

TEST(Lengths, aMessageOfTheSameBlockDoes) {
  ScheduleBuilder b(2);
  BufferId x = b.ragged("x", BufferRole::In, {1}), y = b.ragged("y", BufferRole::Out, {1});
  BufferId z = b.ragged("z", BufferRole::Out, {1});
  b.followsData = false;
  OpId first = b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(z, 0)});
  b.send(0, {b.raggedBlock(x, 0)}, 1, {requires_(first)});
  OpId got = b.recv(1, {b.raggedBlock(y, 0)}, 0);
  b.signal(1, 0, {requires_(got)});
  OpId told = b.wait(0, 1);
  b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(z, 0)}, {requires_(told)});
  b.ensure(1, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
  b.ensure(0, b.raggedBlock(z, 0), 0, b.raggedBlock(x, 0));
  EXPECT_TRUE(all(b).proved()) << words(all(b), b);
}

TEST(Lengths, aBlockOfAnotherLengthIsNoPlaceForOne) {
  ScheduleBuilder b(1);
  BufferId x = b.ragged("x", BufferRole::In, {4, 4}), y = b.ragged("y", BufferRole::Out, {4, 4});
  BufferId w = b.ragged("w", BufferRole::Out, {4});
  b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(w, 0)});
  b.copy(0, {b.raggedBlock(w, 0)}, {b.raggedBlock(y, 0)});
  b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
  b.ensure(0, b.raggedBlock(y, 1), 0, b.raggedBlock(x, 1));
  EXPECT_TRUE(
      fails(all(b), Proof::Matching, {"x[block 0] to w[block 0]", "takes 20 bytes to 28 bytes"}))
      << words(all(b), b);
}

TEST(Lengths, undecidedWhereABlockIsDividedOrListsAreShifted) {
  ScheduleBuilder b(1);
  BufferId x = b.ragged("x", BufferRole::In, {4, 4}), y = b.ragged("y", BufferRole::Out, {4, 4});
  for (uint32_t i = 0; i < 2; ++i)
    b.ensure(0, b.raggedBlock(y, i), 0, b.raggedBlock(x, i));
  ScheduleBuilder shifted = b;
  Slice half = b.raggedBlock(x, 0), into = b.raggedBlock(y, 0);
  half.denominator = into.denominator = 2;
  b.copy(0, {half}, {into});
  EXPECT_NE(all(b).undecided, "");
  EXPECT_TRUE(all(b).failures.empty());
  EXPECT_FALSE(all(b).proved());
  EXPECT_EQ(provedSizes(b.schedule())->sizes, (SizeClass{b.n(), b.n(), b.n()}));
  EXPECT_NE(provedSizes(b.schedule())->lengthsUndecided, "");

  shifted.copy(0, {shifted.raggedBlock(x, 0), shifted.raggedBlock(x, 1)},
               {shifted.raggedBlock(y, 1), shifted.raggedBlock(y, 0)});
  EXPECT_NE(all(shifted).undecided, "") << words(all(shifted), shifted);
}

TEST(Lengths, capacityIsThatOfAllBlocksOnTheWay) {
  for (uint64_t m : {3, 4}) {
    ScheduleBuilder b(1);
    BufferId x = b.capacity("x", BufferRole::In, 4, {1});
    BufferId t = b.capacity("t", BufferRole::Temp, m, {1});
    BufferId y = b.capacity("y", BufferRole::Out, 4, {1});
    b.copy(0, {b.raggedBlock(x, 0)}, {b.raggedBlock(t, 0)});
    b.copy(0, {b.raggedBlock(t, 0)}, {b.raggedBlock(y, 0)});
    b.ensure(0, b.raggedBlock(y, 0), 0, b.raggedBlock(x, 0));
    EXPECT_TRUE(b.verify().proved()) << b.verdict();
    if (m == 4)
      EXPECT_TRUE(all(b).proved()) << words(all(b), b);
    else
      EXPECT_TRUE(fails(all(b), Proof::Matching, {"gets 16 bytes, but has room for 12 bytes"}))
          << words(all(b), b);
  }
}

TEST(Lengths, blocksOfCapacityThatChangePlacesKeepTheirLengths) {
  ScheduleBuilder b(1);
  BufferId x = b.capacity("x", BufferRole::In, 4, {2, 2}),
           y = b.capacity("y", BufferRole::Out, 4, {2, 2});
  for (uint32_t i = 0; i < 2; ++i)
    b.ensure(0, b.raggedBlock(y, i), 0, b.raggedBlock(x, i));
  ScheduleBuilder crossed = b;
  for (uint32_t i = 0; i < 2; ++i) {
    b.copy(0, {b.raggedBlock(x, i)}, {b.raggedBlock(y, i)});
    crossed.copy(0, {b.raggedBlock(x, i)}, {b.raggedBlock(y, 1 - i)});
  }
  EXPECT_TRUE(all(b).proved()) << words(all(b), b);
  EXPECT_TRUE(fails(all(crossed), Proof::Contract, {"gets another length"}))
      << words(all(crossed), crossed);
}

TEST(Lengths, sizesBetweenTwoProofsHoldForAllLengths) {
  ScheduleBuilder b(1, 10);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  BufferId u = b.ragged("u", BufferRole::In, {1}), v = b.ragged("v", BufferRole::Out, {1});
  b.copy(0, {b.blockOf(x, 0), b.raggedBlock(u, 0)}, {b.blockOf(y, 0), b.raggedBlock(v, 0)});
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  b.ensure(0, b.raggedBlock(v, 0), 0, b.raggedBlock(u, 0));
  b.schedule().sizeClass = {10, 0, 1000};
  EXPECT_EQ(provedSizes(b.schedule())->sizes, (SizeClass{10, 0, 1000}));
  b.ensure(0, b.elementsOf(y, 0, 7), 0, b.elementsOf(x, 0, 7));
  EXPECT_EQ(provedSizes(b.schedule())->sizes, (SizeClass{10, 7, 1000}));
}

/// Blocks that go from ranks to ranks, some in a list, some over a third buffer; ops in their order
/// or not, with signals among them.
class RandomBlocks {
public:
  explicit RandomBlocks(uint32_t seed) : random_(seed), b_(2 + below(2), 2) {
    x_ = b_.ragged("x", BufferRole::In, {2, 2});
    w_ = b_.ragged("w", BufferRole::Out, {2});
    y_ = b_.ragged("y", BufferRole::Out, {2, 2});
    c_ = b_.capacity("c", BufferRole::Out, 2, {2});
    d_ = b_.param("d", BufferRole::In);
    e_ = b_.param("e", BufferRole::Out);
  }

  ScheduleBuilder make() {
    for (uint32_t steps = 1 + below(5); steps > 0; --steps)
      addStep();
    b_.schedule().synchronizes = chance(15);
    tamper();
    return b_;
  }

private:
  uint32_t below(uint32_t bound) { return random_() % bound; }
  bool chance(uint32_t percent) { return below(100) < percent; }

  /// Data demand what they demand; most ops wait for the one before as well.
  Deps deps(uint32_t rank) {
    uint32_t size = b_.schedule().ranks[rank].size();
    if (size == 0 || chance(30))
      return {};
    OpId to{chance(80) ? size - 1 : below(size)};
    return {chance(80) ? requires_(to) : irequires(to)};
  }

  void move(uint32_t from, const Slices &sources, uint32_t to, const Slices &targets) {
    if (from == to) {
      b_.copy(from, sources, targets, deps(from));
      return;
    }
    bool sendsFirst = chance(50);
    if (sendsFirst)
      b_.send(from, sources, to, deps(from));
    b_.recv(to, targets, from, deps(to));
    if (!sendsFirst)
      b_.send(from, sources, to, deps(from));
  }

  void addStep() {
    uint32_t from = below(b_.ranks()), to = below(b_.ranks()), i = below(2);
    switch (below(7)) {
    case 0: // two blocks in a list
      move(from, {b_.raggedBlock(x_, 0), b_.raggedBlock(x_, 1)}, to,
           {b_.raggedBlock(y_, 0), b_.raggedBlock(y_, 1)});
      promise(to, b_.raggedBlock(y_, 0), from, b_.raggedBlock(x_, 0));
      return promise(to, b_.raggedBlock(y_, 1), from, b_.raggedBlock(x_, 1));
    case 1: { // over another rank
      uint32_t by = below(b_.ranks());
      move(from, {b_.raggedBlock(x_, i)}, by, {b_.raggedBlock(w_, 0)});
      promise(by, b_.raggedBlock(w_, 0), from, b_.raggedBlock(x_, i));
      move(by, {b_.raggedBlock(w_, 0)}, to, {b_.raggedBlock(y_, i)});
      return promise(to, b_.raggedBlock(y_, i), from, b_.raggedBlock(x_, i));
    }
    case 2:
      b_.signal(from, to, deps(from));
      b_.wait(to, from, deps(to));
      return;
    case 3:
      move(from, {b_.blockOf(d_, 0)}, to, {b_.blockOf(e_, 0)});
      return promise(to, b_.blockOf(e_, 0), from, b_.blockOf(d_, 0));
    case 4: // with the elements of a dense buffer
      move(from, {b_.blockOf(d_, 0), b_.raggedBlock(x_, i)}, to,
           {b_.blockOf(e_, 0), b_.raggedBlock(y_, i)});
      promise(to, b_.blockOf(e_, 0), from, b_.blockOf(d_, 0));
      return promise(to, b_.raggedBlock(y_, i), from, b_.raggedBlock(x_, i));
    case 5:
      if (!isFilled_)
        b_.copy(0, {b_.raggedBlock(x_, 0)}, {b_.raggedBlock(c_, 0)}, deps(0));
      isFilled_ = true;
      return promise(0, b_.raggedBlock(c_, 0), 0, b_.raggedBlock(x_, 0));
    default:
      move(from, {b_.raggedBlock(x_, i)}, to, {b_.raggedBlock(y_, i)});
      return promise(to, b_.raggedBlock(y_, i), from, b_.raggedBlock(x_, i));
    }
  }

  /// Of each target the last promise counts.
  void promise(uint32_t rank, const Slice &target, uint32_t owner, const Slice &operand) {
    Contract &contract = b_.schedule().ranks[rank].contract;
    for (Ensure &ensure : contract.ensures)
      if (ensure.target == target) {
        contract.operands[ensure.operandBegin] = {Rank{owner}, operand};
        return;
      }
    b_.ensure(rank, target, owner, operand);
  }

  void tamper() {
    for (uint32_t r = 0; r < b_.ranks(); ++r) {
      Dag &dag = b_.schedule().ranks[r];
      for (Op &op : dag.ops)
        if (op.depCount > 0 && chance(4))
          --op.depCount;
    }
  }

  std::mt19937 random_;
  ScheduleBuilder b_;
  BufferId x_, w_, y_, c_, d_, e_;
  bool isFilled_ = false;
};

/// What is wrong at some lengths; empty: nothing at any that were tried.
std::string faultAtSome(const Schedule &schedule, uint64_t n, std::mt19937 &random) {
  Result<BlockLengths> blocks = BlockLengths::of(schedule, n);
  for (uint32_t pattern = 0; pattern < 1u << blocks->count(); ++pattern) {
    std::vector<uint64_t> lengths;
    for (uint32_t i = 0; i < blocks->count(); ++i)
      lengths.push_back(
          pattern >> i & 1 ? 1 + random() % std::min<uint64_t>(3, blocks->most(LengthId{i})) : 0);
    VerifyReport report = verify(schedule, blocks->sizes(lengths));
    if (!report.proved())
      return describe(report, schedule);
  }
  return "";
}

TEST(Lengths, areJudgedAsEachPatternOfEmptyBlocks) {
  std::mt19937 random(1);
  std::array<uint32_t, 3> counts{}; // proved, refused, undecided
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    ScheduleBuilder b = RandomBlocks(seed).make();
    Schedule &schedule = b.schedule();
    schedule.hasContract = true;
    if (Result<BlockLengths> blocks = BlockLengths::of(schedule, b.n()); blocks->count() > 8)
      continue;
    VerifyReport report = all(b);
    std::string fault = faultAtSome(schedule, b.n(), random);
    bool isUndecided = report.failures.empty() && !report.proved();
    ++counts[isUndecided ? 2 : !report.proved()];
    if (isUndecided)
      continue;
    ASSERT_EQ(report.proved(), fault.empty())
        << "seed " << seed << ": " << words(report, b) << fault;
  }
  EXPECT_GT(counts[0], 500u);
  EXPECT_GT(counts[1], 500u);
  EXPECT_LT(counts[2], 500u);
}

} // namespace
} // namespace colldsl::test
