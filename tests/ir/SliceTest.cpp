#include "ir/Slice.h"
#include "ir/Bounds.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

Slice slice(int64_t beginScale, int64_t beginOffset, int64_t endScale, int64_t endOffset,
            uint32_t denominator = 1) {
  return {beginScale, beginOffset, endScale, endOffset, denominator, BufferId{0}, kNoBlock, 0};
}

Buffer blockOf(int64_t endScale, int64_t endOffset = 0) {
  Buffer b;
  b.endScale = endScale;
  b.endOffset = endOffset;
  return b;
}

Sizes atN(uint64_t n) {
  Sizes sizes;
  sizes.elements = n;
  return sizes;
}

TEST(Slice, FloorsTowardsMinusInfinity) {
  EXPECT_EQ(floorDiv(7, 3), 2);
  EXPECT_EQ(floorDiv(-7, 3), -3);
  EXPECT_EQ(floorDiv(-6, 3), -2);
  EXPECT_EQ(floorDiv(0, 3), 0);
  EXPECT_EQ(positionAt(1, 0, 3, 7), 2);
  EXPECT_EQ(positionAt(-1, 0, 3, 7), -3);
  EXPECT_EQ(positionAt(-1, 0, 3, 6), -2);
  EXPECT_EQ(positionAt(0, -1, 1000, 5), -1);
  EXPECT_EQ(positionAt(2, -15, 4, 7), -1);
}

TEST(Slice, DoesNotOverflowOnTheWay) {
  constexpr auto big = int64_t{1} << 62;
  EXPECT_EQ(positionAt(big, 0, 1u << 31, 1u << 31), big);
  EXPECT_EQ(positionAt(INT64_MIN, 0, 1u << 31, 1u << 31), INT64_MIN);
  EXPECT_EQ(positionAt(INT64_MAX, INT64_MIN, 1, 1), -1);
}

// The example of Slice.h: T[4][n], block 2, its second of three parts.
TEST(Slice, ResolvesPartOfBlock) {
  Slice s = slice(7, 0, 8, 0, 3);
  EXPECT_EQ(resolve(s, blockOf(4), atN(10)), (ByteRange{23 * 4, 3 * 4}));
  EXPECT_EQ(resolve(s, blockOf(4), atN(0)), (ByteRange{0, 0}));
}

// All parts of a block together are the block, for every size.
TEST(Slice, PartsTile) {
  for (uint64_t n = 0; n < 40; ++n)
    for (uint32_t k = 1; k < 9; ++k) {
      uint64_t at = 2 * n * 4;
      for (uint32_t i = 0; i < k; ++i) {
        ByteRange part = resolve(slice(2 * k + i, 0, 2 * k + i + 1, 0, k), blockOf(4), atN(n));
        EXPECT_EQ(part.offset, at);
        EXPECT_LE(part.length, (n / k + 1) * 4);
        at = part.end();
      }
      EXPECT_EQ(at, 3 * n * 4);
    }
}

TEST(Slice, CountsFromTheBuffersOrigin) {
  Buffer b = blockOf(2, 0);
  b.originScale = 1;
  b.originOffset = -5;
  b.denominator = 3;
  b.type = ElementType::F64;
  Sizes sizes = atN(10); // elements 1..6
  EXPECT_EQ(extentBytes(b, sizes), 5u * 8);
  EXPECT_EQ(resolve(slice(1, 0, 2, 0, 3), b, sizes), (ByteRange{2 * 8, 3 * 8}));
  sizes = atN(0); // elements -2..0
  EXPECT_EQ(extentBytes(b, sizes), 2u * 8);
  EXPECT_EQ(resolve(slice(0, -1, 0, 0), b, sizes), (ByteRange{1 * 8, 1 * 8}));
}

TEST(Slice, ResolvesInBlocksGivenAtCallTime) {
  Buffer b;
  b.layout = Layout::CallTime;
  b.type = ElementType::U16;
  b.blocks = 2;
  Sizes sizes = atN(99);
  sizes.blocks = {{{100, 40}, {3, 7}}};
  Slice whole = slice(0, 0, 1, 0);
  whole.block = 1;
  EXPECT_EQ(resolve(whole, b, sizes), (ByteRange{40 * 2, 7 * 2}));
  Slice half = slice(1, 0, 2, 0, 2);
  half.block = 1;
  EXPECT_EQ(resolve(half, b, sizes), (ByteRange{43 * 2, 4 * 2}));
}

void expectRefused(const Status &status, std::string_view words) {
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
}

TEST(Bounds, SliceMustLieInItsBuffer) {
  EXPECT_TRUE(checkSlice(slice(3, 0, 4, 0), blockOf(4), 10).ok());
  EXPECT_TRUE(checkSlice(slice(4, 0, 4, 0), blockOf(4), 10).ok());
  expectRefused(checkSlice(slice(3, 1, 4, 1), blockOf(4), 10), "31..41, the buffer has 0..40");
  expectRefused(checkSlice(slice(0, -1, 4, 0), blockOf(4), 10), "-1..40, the buffer has 0..40");
  expectRefused(checkSlice(slice(2, 0, 1, 0), blockOf(4), 10), "begins at element 20");
  EXPECT_TRUE(checkSlice(slice(2, 0, 1, 0), blockOf(4), 0).ok());
}

TEST(Bounds, FieldsMustMakeSense) {
  expectRefused(checkSlice(slice(0, 0, 1, 0, 0), blockOf(4), 1), "zero denominator");
  Slice reserved = slice(0, 0, 1, 0);
  reserved.reserved = 1;
  expectRefused(checkSlice(reserved, blockOf(4), 1), "reserved");
  Slice block = slice(0, 0, 1, 0);
  block.block = 2;
  expectRefused(checkSlice(block, blockOf(4), 1), "without blocks");
  Buffer two;
  two.layout = Layout::Capacity;
  two.blocks = 2;
  expectRefused(checkSlice(block, two, 1), "names block 2, the buffer has 2 blocks");
  block.block = 1;
  EXPECT_TRUE(checkSlice(block, two, 1).ok());
}

TEST(Bounds, RefusesBytesBeyondTheAddressSpace) {
  expectRefused(checkSlice(slice(0, 0, INT64_MAX, 0), blockOf(4), UINT64_MAX), "too far out");
  expectRefused(checkBuffer(blockOf(INT64_MAX), 2), "too large at n = 2");
  expectRefused(checkBuffer(blockOf(-1), 2), "begins at element 0 and ends before it, at -2");
  Buffer blocks = blockOf(1);
  blocks.blocks = (1u << 24) + 1;
  expectRefused(checkBuffer(blocks, 2), "has 16777217 blocks, the limit is 16777216");
  Buffer zero = blockOf(1);
  zero.denominator = 0;
  expectRefused(checkBuffer(zero, 2), "zero denominator");
}

TEST(Bounds, FindsAliasCycles) {
  std::vector<Buffer> buffers(5);
  buffers[0].aliasOf = BufferId{3};
  buffers[3].aliasOf = BufferId{1};
  EXPECT_EQ(findAliasCycle(buffers), kNoBuffer);
  buffers[1].aliasOf = BufferId{4};
  buffers[4].aliasOf = BufferId{3};
  BufferId found = findAliasCycle(buffers);
  EXPECT_TRUE(found == BufferId{1} || found == BufferId{3} || found == BufferId{4});
  buffers.assign(1, Buffer());
  buffers[0].aliasOf = BufferId{0};
  EXPECT_EQ(findAliasCycle(buffers), BufferId{0});
}

} // namespace
} // namespace colldsl
