#include "tools/run/Oracle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace colldsl::tools {
namespace {

Slice whole(uint32_t buffer) {
  Slice s;
  s.buffer = BufferId{buffer};
  s.endScale = 1;
  return s;
}

Buffer array(BufferRole role, ElementType type, uint32_t name) {
  Buffer b;
  b.role = role;
  b.type = type;
  b.name = name;
  b.endScale = 1;
  return b;
}

/// y == sum of x over all ranks, but only its first element is promised if `first`.
Schedule sums(uint32_t ranks, ElementType type, bool first = false) {
  Schedule s;
  s.names = {"x", "y"};
  s.hasContract = true;
  for (uint32_t r = 0; r < ranks; ++r) {
    Dag dag;
    dag.addBuffer(array(BufferRole::In, type, 0));
    dag.addBuffer(array(BufferRole::Out, type, 1));
    Slice part = whole(0);
    if (first)
      part = {0, 0, 0, 1, 1, BufferId{0}, kNoBlock, 0};
    for (uint32_t k = 0; k < ranks; ++k)
      dag.contract.operands.push_back({Rank{k}, part});
    Ensure e;
    e.target = part;
    e.target.buffer = BufferId{1};
    e.isReduction = true;
    e.operandCount = ranks;
    dag.contract.ensures.push_back(e);
    s.ranks.push_back(dag);
  }
  return s;
}

std::vector<Sizes> sizes(uint32_t ranks, uint64_t elements) {
  Sizes s;
  s.elements = elements;
  return std::vector<Sizes>(ranks, s);
}

template <typename T> T at(const std::vector<std::byte> &memory, ByteRange place, uint64_t i) {
  T x;
  std::memcpy(&x, &memory[place.offset + i * sizeof(T)], sizeof(T));
  return x;
}

TEST(Oracle, AddsUpTheDataOfTheRanks) {
  Schedule schedule = sums(3, ElementType::I32);
  std::vector<Sizes> n = sizes(3, 50);
  std::vector<Oracle::Contents> all;
  for (uint32_t r = 0; r < 3; ++r)
    all.push_back(*Oracle(schedule, n, Rank{r}).contents(0));
  Oracle oracle(schedule, n, Rank{1});
  ByteRange x = oracle.placeOf(BufferId{0}), y = oracle.placeOf(BufferId{1});
  EXPECT_EQ(x.length, 200u);
  for (uint64_t i = 0; i < 50; ++i) {
    uint32_t sum = 0;
    for (const Oracle::Contents &contents : all)
      sum += at<uint32_t>(contents.before, x, i);
    EXPECT_EQ(at<uint32_t>(all[1].after, y, i), sum);
    EXPECT_EQ(at<uint32_t>(all[1].after, x, i), at<uint32_t>(all[1].before, x, i));
  }
}

TEST(Oracle, ElementsDifferByPlaceRankAndCall) {
  Schedule schedule = sums(2, ElementType::U64);
  std::vector<Sizes> n = sizes(2, 100);
  std::set<uint64_t> seen;
  for (uint32_t r = 0; r < 2; ++r)
    for (uint32_t call = 0; call < 2; ++call) {
      Oracle oracle(schedule, n, Rank{r});
      Oracle::Contents contents = *oracle.contents(call);
      for (uint64_t i = 0; i < 100; ++i)
        seen.insert(at<uint64_t>(contents.before, oracle.placeOf(BufferId{0}), i));
    }
  EXPECT_EQ(seen.size(), 400u);
}

TEST(Oracle, FloatsAreSmallWholeNumbers) {
  Schedule schedule = sums(1, ElementType::F32);
  std::vector<Sizes> n = sizes(1, 1000);
  Oracle oracle(schedule, n, Rank{0});
  Oracle::Contents contents = *oracle.contents(0);
  for (uint64_t i = 0; i < 1000; ++i) {
    auto x = at<float>(contents.before, oracle.placeOf(BufferId{0}), i);
    EXPECT_EQ(x, static_cast<float>(static_cast<int>(x)));
    EXPECT_LE(std::abs(x), 8);
  }
}

TEST(Oracle, BytesWithoutAPromiseStayAsTheyWere) {
  Schedule schedule = sums(2, ElementType::I16, true);
  std::vector<Sizes> n = sizes(2, 10);
  Oracle oracle(schedule, n, Rank{0});
  Oracle::Contents contents = *oracle.contents(0);
  uint64_t y = oracle.placeOf(BufferId{1}).offset;
  for (uint64_t i = 0; i < contents.before.size(); ++i)
    if (i < y || i >= y + 2) {
      EXPECT_EQ(contents.before[i], contents.after[i]) << i;
    }
}

// A promise counts for more than that all else may hold anything.
TEST(Oracle, ClobberedBytesAreOpen) {
  Schedule schedule = sums(2, ElementType::I32, /*first=*/true);
  Ensure clobber;
  clobber.target = whole(1);
  for (Dag &dag : schedule.ranks)
    dag.contract.ensures.push_back(clobber);
  std::vector<Sizes> n = sizes(2, 4);
  Oracle oracle(schedule, n, Rank{0});
  Oracle::Contents contents = *oracle.contents(0);
  ByteRange y = oracle.placeOf(BufferId{1});
  ASSERT_EQ(contents.anything.size(), 1u);
  EXPECT_EQ(contents.anything[0].offset, y.offset + 4);
  EXPECT_EQ(contents.anything[0].length, 12u);
}

TEST(Oracle, NamesTheFirstWrongByte) {
  Schedule schedule = sums(2, ElementType::I32);
  std::vector<Sizes> n = sizes(2, 10);
  Oracle oracle(schedule, n, Rank{0});
  std::vector<std::byte> expected = oracle.contents(0)->after, found = expected;
  ByteRange y = oracle.placeOf(BufferId{1});
  int32_t seven = 7, eight = 7 + 256;
  std::memcpy(&expected[y.offset + 8], &seven, 4);
  std::memcpy(&found[y.offset + 8], &eight, 4);
  EXPECT_EQ(oracle.mismatch(found, expected),
            "byte 9 of y: expected 0x00, found 0x01 (i32 element 2: expected 7, found 263)");
}

TEST(Oracle, NamesTheOverrunBuffer) {
  Schedule schedule = sums(2, ElementType::I32);
  std::vector<Sizes> n = sizes(2, 10);
  Oracle oracle(schedule, n, Rank{0});
  std::vector<std::byte> expected = oracle.contents(0)->after;
  std::vector<std::byte> found = expected;
  found[oracle.placeOf(BufferId{0}).end()] = std::byte{0x11};
  EXPECT_EQ(oracle.mismatch(found, expected),
            "a byte behind the end of x was overwritten with 0x11");
  found = expected;
  found[0] = std::byte{0x22};
  EXPECT_EQ(oracle.mismatch(found, expected),
            "a byte in front of the first buffer was overwritten with 0x22");
}

// x lies in y: what y holds there at entry is x.
TEST(Oracle, InPlaceFormsShareBytes) {
  Schedule schedule = sums(2, ElementType::I32);
  for (Dag &dag : schedule.ranks) {
    dag.buffers[0].aliasOf = BufferId{1};
    dag.buffers[0].aliasSlice = 0;
    dag.slices.push_back(whole(1));
  }
  std::vector<Sizes> n = sizes(2, 10);
  std::vector<Oracle::Contents> all;
  for (uint32_t r = 0; r < 2; ++r)
    all.push_back(*Oracle(schedule, n, Rank{r}).contents(0));
  Oracle oracle(schedule, n, Rank{0});
  EXPECT_EQ(oracle.placeOf(BufferId{0}).length, 0u);
  ByteRange y = oracle.placeOf(BufferId{1});
  for (uint64_t i = 0; i < 10; ++i)
    EXPECT_EQ(at<uint32_t>(all[0].after, y, i),
              at<uint32_t>(all[0].before, y, i) + at<uint32_t>(all[1].before, y, i));
}

TEST(Oracle, RefusesReductionsWithoutMeaning) {
  Schedule schedule = sums(2, ElementType::F64);
  schedule.ranks[0].contract.ensures[0].reduction = Reduction::Bxor;
  std::vector<Sizes> n = sizes(2, 10);
  EXPECT_EQ(Oracle(schedule, n, Rank{0}).contents(0).message(),
            "there is no bxor of f64; bxor is for integers");
}

TEST(Oracle, RefusesContractsWithoutMeaning) {
  std::vector<Sizes> n = sizes(2, 10);
  Schedule outside = sums(2, ElementType::I32);
  outside.ranks[0].contract.operands[1].slice.endScale = 2;
  EXPECT_EQ(Oracle(outside, n, Rank{0}).contents(0).message(),
            "the contract speaks of bytes that x does not have on rank 1");
  Schedule shorter = sums(2, ElementType::I32);
  shorter.ranks[0].contract.ensures[0].target.endScale = 0;
  EXPECT_EQ(Oracle(shorter, n, Rank{0}).contents(0).message(),
            "the contract promises 40 bytes for 0");
  Schedule nothing = sums(2, ElementType::I32);
  nothing.ranks[0].contract.ensures[0].operandCount = 0;
  EXPECT_EQ(Oracle(nothing, n, Rank{0}).contents(0).message(),
            "the contract promises a value of 0 operands");
}

} // namespace
} // namespace colldsl::tools
