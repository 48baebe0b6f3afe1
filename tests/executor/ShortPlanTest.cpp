// What is made of a plan before it runs: a straight line, combines that make their targets,
// receives that combine.
#include "executor/Addresses.h"
#include "executor/CombiningReceives.h"
#include "executor/FusedCopies.h"
#include "executor/LocalWork.h"
#include "executor/StraightLine.h"
#include "protocol/HybridEndpoint.h"
#include "protocol/fake/FakeWorld.h"
#include "tests/executor/Schedules.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr Rank kMe{0}, kOther{1};
constexpr uint64_t kBlock = 5; ///< elements

/// The steps of rank 0, with memory for every buffer.
struct Built {
  explicit Built(const Builder &builder)
      : image(builder.schedule), view(image->rank(kMe)), bound(view), steps(view, bound) {
    Binding binding{kBlock, {}, {}};
    for (const Buffer &buffer : view.buffers) {
      memory.emplace_back(static_cast<size_t>(buffer.endScale) * kBlock);
      binding.buffers.push_back({memory.back().data(), memory.back().size() * 4});
    }
    edges = Edges::of(view).take();
    EXPECT_TRUE(bound.bind(image->sizeClass(), binding).ok());
    EXPECT_TRUE(steps.bind(edges, {}).ok());
    FusedCopies(view).fuse(bound, steps);
  }
  Built(const Built &) = delete;
  Built &operator=(const Built &) = delete;
  /// `network`: this rank sits on another node.
  std::vector<uint32_t> line(uint64_t longest, Rank network = kNoRank) const {
    fake::Options options;
    options.bufferedSendBytes = longest;
    fake::World world(3, options);
    std::unique_ptr<Endpoint> part = world.attach(kMe);
    std::vector<bool> isRemote(3, false);
    if (network != kNoRank)
      isRemote[index(network)] = true;
    StraightLine line(view, steps, protocol::HybridEndpoint(*part, *part, isRemote));
    return line.mayRun(steps) ? line.ops() : std::vector<uint32_t>();
  }
  /// Of a copy or combine: first block of the target and number of blocks, piece by piece.
  std::vector<std::pair<int64_t, uint64_t>> targets(OpId op, size_t buffer) const {
    std::vector<std::pair<int64_t, uint64_t>> found;
    const auto *begin = reinterpret_cast<const std::byte *>(memory[buffer].data());
    for (uint32_t i = 0; i < steps[op].pieceCount; ++i)
      found.emplace_back((steps[op].pieces[i].target - begin) / int64_t{kBlock * 4},
                         steps[op].pieces[i].bytes / (kBlock * 4));
    return found;
  }

  LoadedImage image;
  RankView view;
  std::vector<std::vector<int32_t>> memory;
  Edges edges;
  Memory bound;
  Steps steps;
};

CombiningReceives pairsOf(const Built &built) {
  CombiningReceives pairs(built.view);
  pairs.bind(built.steps);
  return pairs;
}

using Line = std::vector<uint32_t>;

TEST(StraightLine, sendsGoFirstAndReceivesLast) {
  Builder b(2);
  BufferId x = b.buffer(BufferRole::InOut, 4);
  OpId in = b.recv(kMe, kOther, {b.block(x, 0)});
  OpId own = b.copy(kMe, {b.block(x, 1)}, {b.block(x, 2)});
  b.send(kMe, kOther, {b.block(x, 0)}, {after(in)});
  b.send(kMe, kOther, {b.block(x, 2)}, {after(own)});
  b.send(kMe, kOther, {b.block(x, 3)});
  b.recv(kOther, kMe, {b.block(x, 0)});
  b.recv(kOther, kMe, {b.block(x, 1)});
  b.recv(kOther, kMe, {b.block(x, 2)});
  b.send(kOther, kMe, {b.block(x, 3)});
  EXPECT_EQ(Built(b).line(kBlock * 4), (Line{4, 1, 3, 0, 2}));
}

TEST(StraightLine, sendsToOtherNodesGoBeforeOthers) {
  constexpr Rank kFar{2};
  Builder b(3);
  BufferId x = b.buffer(BufferRole::InOut, 2);
  for (Rank to : {kOther, kFar}) {
    b.send(kMe, to, {b.block(x, 0)});
    b.recv(to, kMe, {b.block(x, 0)});
    b.recv(kMe, to, {b.block(x, to == kFar)});
    b.send(to, kMe, {b.block(x, 0)});
  }
  EXPECT_EQ(Built(b).line(kBlock * 4), (Line{0, 2, 1, 3}));
  EXPECT_EQ(Built(b).line(kBlock * 4, kFar), (Line{2, 0, 1, 3}));
}

TEST(StraightLine, longMessagesAndLongPlansHaveNone) {
  Builder b(2);
  BufferId x = b.buffer(BufferRole::InOut, 1);
  OpId last = b.send(kMe, kOther, {b.block(x, 0)});
  b.recv(kOther, kMe, {b.block(x, 0)});
  EXPECT_EQ(Built(b).line(kBlock * 4 - 1), Line());
  while (b.schedule.ranks[0].ops.size() < kLongestLine)
    last = b.signal(kMe, kOther, {after(last)}), b.wait(kOther, kMe);
  EXPECT_EQ(Built(b).line(kBlock * 4).size(), kLongestLine);
  b.signal(kMe, kOther, {after(last)});
  b.wait(kOther, kMe);
  EXPECT_EQ(Built(b).line(kBlock * 4), Line());
}

TEST(StraightLine, notWhereLengthsOrTimesCount) {
  Builder waits(1);
  waits.calc(kMe, 1000);
  EXPECT_EQ(Built(waits).line(kBlock * 4), Line());
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
  Slice from, to;
  from.buffer = x;
  to.buffer = y;
  from.block = to.block = 0;
  from.endScale = to.endScale = 1;
  b.copy(kMe, {from}, {to});
  for (Buffer &buffer : b.schedule.ranks[0].buffers) {
    buffer.layout = Layout::Capacity;
    buffer.blocks = 1;
  }
  EXPECT_EQ(Built(b).line(kBlock * 4), Line());
}

/// copy x to y; combine z's blocks [1, 3) into y's.
struct CopyAndCombine {
  explicit CopyAndCombine(BufferRole role = BufferRole::In)
      : b(1), x(b.buffer(role, 4)), z(b.buffer(BufferRole::In, 4)), y(b.buffer(BufferRole::Out, 4)),
        copy(b.copy(kMe, {b.blocks(x, 0, 4)}, {b.blocks(y, 0, 4)})) {}
  OpId combine(std::vector<Dep> deps) {
    return b.combine(kMe, b.blocks(z, 1, 3), b.blocks(y, 1, 3), Reduction::Sum, Side::After,
                     std::move(deps));
  }
  Builder b;
  BufferId x, z, y;
  OpId copy;
};

using Blocks = std::vector<std::pair<int64_t, uint64_t>>;

TEST(FusedCopies, aCombineMakesItsTarget) {
  CopyAndCombine c;
  OpId combine = c.combine({after(c.copy)});
  Built built(c.b);
  ASSERT_EQ(built.steps[combine].pieceCount, 1u);
  EXPECT_EQ(built.steps[combine].pieces[0].first,
            reinterpret_cast<const std::byte *>(built.memory[0].data() + kBlock));
  EXPECT_EQ(built.targets(c.copy, 2), (Blocks{{0, 1}, {3, 1}}));
}

TEST(FusedCopies, notWhereSomebodyReadsInBetween) {
  CopyAndCombine c;
  OpId reader = c.b.copy(kMe, {c.b.block(c.y, 2)}, {c.b.block(c.b.buffer(BufferRole::Out, 1), 0)},
                         {after(c.copy)});
  OpId combine = c.combine({after(c.copy), after(reader)});
  Built built(c.b);
  EXPECT_EQ(built.steps[combine].pieces[0].first, nullptr);
  EXPECT_EQ(built.targets(c.copy, 2), (Blocks{{0, 4}}));
}

// The answer to the send may be what the combine waits for.
TEST(FusedCopies, notWhereAMessageMayOrderAReaderInBetween) {
  CopyAndCombine c;
  c.b.send(kMe, kMe, {c.b.block(c.y, 2)}, {after(c.copy)});
  OpId answer = c.b.wait(kMe, kMe);
  OpId combine = c.combine({after(c.copy), after(answer)});
  Built built(c.b);
  EXPECT_EQ(built.steps[combine].pieces[0].first, nullptr);
  EXPECT_EQ(built.targets(c.copy, 2), (Blocks{{0, 4}}));
}

TEST(FusedCopies, readersOfTheResultDisturbNothing) {
  CopyAndCombine c;
  OpId combine = c.combine({after(c.copy)});
  c.b.copy(kMe, {c.b.block(c.y, 2)}, {c.b.block(c.b.buffer(BufferRole::Out, 1), 0)},
           {after(combine)});
  EXPECT_NE(Built(c.b).steps[combine].pieces[0].first, nullptr);
}

// Its result may be written over what the copy reads.
TEST(FusedCopies, notFromAnInputInWhichAnOutputLies) {
  CopyAndCombine c;
  BufferId out = c.b.buffer(BufferRole::Out, 1);
  Dag &dag = c.b.schedule.ranks[0];
  dag.buffers[index(out)].aliasOf = c.x;
  dag.buffers[index(out)].aliasSlice = static_cast<uint32_t>(dag.slices.size());
  dag.slices.push_back(c.b.block(c.x, 1));
  OpId combine = c.combine({after(c.copy)});
  EXPECT_EQ(Built(c.b).steps[combine].pieces[0].first, nullptr);
}

TEST(FusedCopies, readersOfOtherBlocksDisturbNothing) {
  CopyAndCombine c;
  OpId reader = c.b.copy(kMe, {c.b.block(c.y, 3)}, {c.b.block(c.b.buffer(BufferRole::Out, 1), 0)},
                         {after(c.copy)});
  OpId combine = c.combine({after(c.copy), after(reader)});
  EXPECT_NE(Built(c.b).steps[combine].pieces[0].first, nullptr);
}

// copy x to y; combine y into y
TEST(FusedCopies, notWhereTheCombineItselfReadsWhatWasCopied) {
  CopyAndCombine c;
  OpId combine = c.b.combine(kMe, c.b.blocks(c.y, 1, 3), c.b.blocks(c.y, 1, 3), Reduction::Sum,
                             Side::After, {after(c.copy)});
  Built built(c.b);
  EXPECT_EQ(built.steps[combine].pieces[0].first, nullptr);
  EXPECT_EQ(built.targets(c.copy, 2), (Blocks{{0, 4}}));
}

TEST(FusedCopies, notFromMemoryThatMayChange) {
  CopyAndCombine c(BufferRole::InOut);
  OpId combine = c.combine({after(c.copy)});
  EXPECT_EQ(Built(c.b).steps[combine].pieces[0].first, nullptr);
}

/// Rank 0 receives two blocks and combines both into y.
struct ReceiveAndCombine {
  explicit ReceiveAndCombine(BufferRole role = BufferRole::Temp)
      : b(2), y(b.buffer(BufferRole::Out, 2)), z(b.buffer(role, 2)),
        receive(b.recv(kMe, kOther, {b.blocks(z, 0, 2)})) {}
  OpId combine() {
    return b.combine(kMe, b.blocks(z, 0, 2), b.blocks(y, 0, 2), Reduction::Sum, Side::After,
                     {after(receive)});
  }
  /// Of which the combine takes over a copy to its target.
  void combineWithCopy() {
    BufferId x = b.buffer(BufferRole::In, 2);
    OpId copy = b.copy(kMe, {b.blocks(x, 0, 2)}, {b.blocks(y, 0, 2)});
    b.combine(kMe, b.blocks(z, 0, 2), b.blocks(y, 0, 2), Reduction::Sum, Side::After,
              {after(receive), after(copy)});
  }
  Builder b;
  BufferId y, z;
  OpId receive;
};

TEST(CombiningReceives, combineDataAsItComes) {
  ReceiveAndCombine r;
  OpId combine = r.combine();
  Built built(r.b);
  CombiningReceives pairs = pairsOf(built);
  CombiningReceives::Pair *pair = pairs.of(r.receive);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->op, combine);
  EXPECT_EQ(pair->elementBytes, 4u);
  EXPECT_EQ(pairs.of(combine), pair);

  std::fill(built.memory[0].begin(), built.memory[0].end(), 1);
  const std::vector<int32_t> comes(3, 10);
  pair->combine(2 * sizeof(int32_t), reinterpret_cast<const std::byte *>(comes.data()),
                comes.size() * sizeof(int32_t));
  EXPECT_EQ(built.memory[0], (std::vector<int32_t>{1, 1, 11, 11, 11, 1, 1, 1, 1, 1}));

  EXPECT_FALSE(pairs.takeDone(combine));
  pair->combinedBytes = 40;
  EXPECT_TRUE(pairs.takeDone(combine));
  EXPECT_FALSE(pairs.takeDone(combine)) << "in the next run it must be done anew";
}

// What the copy would have written is room for what comes.
TEST(CombiningReceives, takeOverACopy) {
  ReceiveAndCombine r;
  r.combineWithCopy();
  Built built(r.b);
  CombiningReceives pairs = pairsOf(built);
  CombiningReceives::Pair *pair = pairs.of(r.receive);
  ASSERT_NE(pair, nullptr);
  auto *y = reinterpret_cast<std::byte *>(built.memory[0].data());
  pair->begin();
  ASSERT_EQ(pair->room, y);
  std::fill(built.memory[0].begin(), built.memory[0].end(), 10);
  std::fill(built.memory[2].begin(), built.memory[2].end(), 1);
  pair->combine(2 * sizeof(int32_t), y + 2 * sizeof(int32_t), 3 * sizeof(int32_t));
  EXPECT_EQ(built.memory[0], (std::vector<int32_t>{10, 10, 11, 11, 11, 10, 10, 10, 10, 10}));
}

// What is got part by part, and what both ends copy, goes there.
TEST(CombiningReceives, theirRoomMovesWithTheMemory) {
  ReceiveAndCombine r;
  r.combineWithCopy();
  Built built(r.b);
  CombiningReceives pairs = pairsOf(built);
  CombiningReceives::Pair *pair = pairs.of(r.receive);
  ASSERT_NE(pair, nullptr);
  Addresses addresses(built.bound, built.steps);
  ASSERT_TRUE(addresses.areKnown());
  for (ptrdiff_t by : {0, 4000, -120}) {
    addresses.shift(r.y, by);
    pair->combinedBytes = 7;
    pair->begin();
    EXPECT_EQ(pair->room, built.steps[pair->op].pieces[0].target);
    EXPECT_EQ(pair->combinedBytes, 0u);
  }
}

TEST(CombiningReceives, notIntoMemoryOfTheCaller) {
  ReceiveAndCombine r(BufferRole::Out);
  r.combine();
  Built built(r.b);
  EXPECT_EQ(pairsOf(built).of(r.receive), nullptr);
}

TEST(CombiningReceives, notWhereAnotherOpReads) {
  ReceiveAndCombine r;
  OpId combine = r.combine();
  r.b.copy(kMe, {r.b.block(r.z, 1)}, {r.b.block(r.b.buffer(BufferRole::Out, 1), 0)},
           {after(combine)});
  Built built(r.b);
  EXPECT_EQ(pairsOf(built).of(r.receive), nullptr);
}

TEST(CombiningReceives, notWhereAPartIsCombined) {
  ReceiveAndCombine r;
  r.b.combine(kMe, r.b.block(r.z, 0), r.b.block(r.y, 0), Reduction::Sum, Side::After,
              {after(r.receive)});
  Built built(r.b);
  EXPECT_EQ(pairsOf(built).of(r.receive), nullptr);
}

/// Of `pieces`, until nothing is left; how many parts they were.
int runInParts(Step step, const std::vector<LocalPiece> &pieces, const Combiner &combiner,
               uint64_t bytes) {
  step.pieces = pieces.data();
  step.pieceCount = static_cast<uint32_t>(pieces.size());
  LocalPart part;
  int parts = 1;
  while (!part.run(step, combiner, bytes))
    ++parts;
  return parts;
}

TEST(LocalPart, copiesPieceAfterPiece) {
  std::vector<std::byte> from(100), to(100, std::byte{0xee});
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = std::byte{static_cast<uint8_t>(i)};
  Step step;
  step.kind = Step::Kind::Copy;
  EXPECT_EQ(runInParts(step,
                       {{&to[0], &from[0], 60}, {&to[60], &from[60], 1}, {&to[61], &from[61], 39}},
                       {}, 25),
            4);
  EXPECT_EQ(to, from);
}

TEST(LocalPart, overlappingBytesMoveAtOnce) {
  std::vector<std::byte> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte{static_cast<uint8_t>(i)};
  Step step;
  step.kind = Step::Kind::Copy;
  EXPECT_EQ(runInParts(step, {{&bytes[10], &bytes[0], 90}}, {}, 25), 1);
  for (size_t i = 10; i < bytes.size(); ++i)
    EXPECT_EQ(bytes[i], std::byte{static_cast<uint8_t>(i - 10)});
}

TEST(LocalPart, combinesWholeElements) {
  std::vector<std::byte> y(60), x(60, std::byte{1}), z(60, std::byte{2});
  Combiner combiner{[](std::byte *target, const std::byte *first, const std::byte *source,
                       uint64_t bytes, Side, void *odd) {
                      *static_cast<bool *>(odd) |= bytes % 12 != 0;
                      for (uint64_t i = 0; i < bytes; ++i)
                        target[i] = first[i] | source[i];
                    },
                    nullptr, 12};
  bool isOdd = false;
  combiner.context = &isOdd;
  Step step;
  step.kind = Step::Kind::Combine;
  EXPECT_EQ(runInParts(step, {{y.data(), z.data(), 60, x.data()}}, combiner, 25), 3);
  EXPECT_EQ(y, std::vector<std::byte>(60, std::byte{3}));
  EXPECT_FALSE(isOdd);
  EXPECT_EQ(runInParts(step, {{y.data(), z.data(), 60}}, combiner, 5), 5) << "one at least";
}

} // namespace
} // namespace colldsl::test
