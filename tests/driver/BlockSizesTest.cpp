#include "driver/schedule/BlockSizes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace colldsl::driver {
namespace {

Slice block(uint32_t buffer, uint32_t i) {
  Slice s;
  s.buffer = BufferId{buffer};
  s.endScale = 1;
  s.block = i;
  return s;
}

Slice dense(uint32_t buffer, int64_t begin, int64_t end) {
  Slice s;
  s.buffer = BufferId{buffer};
  s.beginScale = begin;
  s.endScale = end;
  return s;
}

Buffer blocked(BufferRole role, uint32_t blocks, Layout layout = Layout::CallTime,
               int64_t capacity = 0) {
  Buffer b;
  b.role = role;
  b.layout = layout;
  b.blocks = blocks;
  b.endOffset = capacity * blocks;
  return b;
}

void promise(Dag &dag, const Slice &target, Rank rank, const Slice &operand) {
  Ensure e;
  e.target = target;
  e.operandBegin = static_cast<uint32_t>(dag.contract.operands.size());
  e.operandCount = 1;
  dag.contract.ensures.push_back(e);
  dag.contract.operands.push_back({rank, operand});
}

/// Every rank has 3 blocks for each, and gets block `me` of every other.
Schedule exchange(uint32_t ranks) {
  Schedule s;
  s.hasContract = true;
  for (uint32_t r = 0; r < ranks; ++r) {
    Dag dag;
    dag.addBuffer(blocked(BufferRole::In, ranks));
    dag.addBuffer(blocked(BufferRole::Out, ranks));
    for (uint32_t other = 0; other < ranks; ++other)
      promise(dag, block(1, other), Rank{other}, block(0, r));
    s.ranks.push_back(dag);
  }
  return s;
}

TEST(BlockSizes, NothingToChoose) {
  Schedule s;
  s.ranks.resize(2);
  auto sizes = chooseSizes(s, 7, 1);
  ASSERT_TRUE(sizes.ok());
  ASSERT_EQ(sizes->size(), 2u);
  EXPECT_EQ((*sizes)[1].elements, 7u);
  EXPECT_TRUE((*sizes)[1].blocks.empty());
}

TEST(BlockSizes, PromisedBlocksHaveTheLengthOfTheirValues) {
  Schedule s = exchange(6);
  auto sizes = chooseSizes(s, 100, 1);
  ASSERT_TRUE(sizes.ok());
  uint32_t empty = 0, full = 0;
  for (uint32_t r = 0; r < 6; ++r)
    for (uint32_t other = 0; other < 6; ++other) {
      uint64_t length = (*sizes)[r].blocks[1].length[other];
      EXPECT_EQ(length, (*sizes)[other].blocks[0].length[r]);
      EXPECT_LE(length, 200u);
      ++(length == 0 ? empty : full);
    }
  EXPECT_GT(empty, 0u);
  EXPECT_GT(full, 18u);
}

TEST(BlockSizes, BlocksDoNotOverlapAndAreNotInOrder) {
  auto sizes = chooseSizes(exchange(8), 100, 3);
  ASSERT_TRUE(sizes.ok());
  bool ascends = true, hasGap = false;
  for (const Sizes &rank : *sizes)
    for (const BlockTable &table : rank.blocks) {
      std::vector<std::pair<uint64_t, uint64_t>> places;
      for (size_t i = 0; i < table.offset.size(); ++i)
        places.emplace_back(table.offset[i], table.offset[i] + table.length[i]);
      ascends &= std::is_sorted(places.begin(), places.end());
      std::sort(places.begin(), places.end());
      for (size_t i = 1; i < places.size(); ++i) {
        EXPECT_LE(places[i - 1].second, places[i].first);
        hasGap |= places[i - 1].second < places[i].first;
      }
    }
  EXPECT_FALSE(ascends);
  EXPECT_TRUE(hasGap);
}

TEST(BlockSizes, SameSeedSameSizes) {
  auto lengths = [](uint64_t seed) {
    return (*chooseSizes(exchange(4), 1000, seed))[0].blocks[0].length;
  };
  EXPECT_EQ(lengths(1), lengths(1));
  EXPECT_NE(lengths(1), lengths(2));
}

TEST(BlockSizes, NothingFitsIntoNothing) {
  auto sizes = chooseSizes(exchange(4), 0, 1);
  ASSERT_TRUE(sizes.ok());
  for (uint64_t length : (*sizes)[2].blocks[0].length)
    EXPECT_EQ(length, 0u);
}

TEST(BlockSizes, ABlockThatHoldsAnArrayIsAsLong) {
  Schedule s = exchange(2);
  Buffer x;
  x.role = BufferRole::In;
  x.endScale = 1;
  for (Dag &dag : s.ranks)
    dag.addBuffer(x);
  promise(s.ranks[0], block(1, 1), Rank{1}, dense(2, 0, 1));
  auto sizes = chooseSizes(s, 12, 1);
  ASSERT_TRUE(sizes.ok()) << sizes.message();
  EXPECT_EQ((*sizes)[0].blocks[1].length[1], 12u);
  EXPECT_EQ((*sizes)[1].blocks[0].length[0], 12u) << "equated with it by the exchange";
}

TEST(BlockSizes, RefusesTwoLengths) {
  Schedule s = exchange(2);
  Buffer x;
  x.endScale = 2;
  for (Dag &dag : s.ranks)
    dag.addBuffer(x);
  promise(s.ranks[0], block(1, 1), Rank{1}, dense(2, 0, 1));
  promise(s.ranks[0], block(1, 1), Rank{1}, dense(2, 0, 2));
  auto sizes = chooseSizes(s, 12, 1);
  ASSERT_FALSE(sizes.ok());
  EXPECT_EQ(sizes.message(), "a block is promised to have 12 elements, and 24 as well");
}

TEST(BlockSizes, CapacityIsKept) {
  Schedule s;
  s.ranks.resize(2);
  s.ranks[0].addBuffer(blocked(BufferRole::In, 3, Layout::Capacity, 5));
  s.ranks[1].addBuffer(blocked(BufferRole::Out, 3, Layout::Capacity, 2));
  for (uint32_t i = 0; i < 3; ++i)
    promise(s.ranks[1], block(0, i), Rank{0}, block(0, i));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto sizes = chooseSizes(s, 100, seed);
    ASSERT_TRUE(sizes.ok()) << sizes.message();
    EXPECT_EQ((*sizes)[0].blocks[0].offset, std::vector<uint64_t>({0, 5, 10}));
    EXPECT_EQ((*sizes)[0].blocks[0].length, (*sizes)[1].blocks[0].length);
    for (uint64_t length : (*sizes)[0].blocks[0].length)
      EXPECT_LE(length, 2u) << "or it does not fit where it is promised";
  }
}

} // namespace
} // namespace colldsl::driver
