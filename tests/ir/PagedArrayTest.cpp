// Arrays that begin in memory of malloc and are mapped once they are large.
#include "ir/PagedArray.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace colldsl {
namespace {

// 12 bytes, so that neither a page nor the largest small array has a whole number of them.
struct Value {
  uint32_t parts[3];
};

TEST(PagedArray, growsFromSmallToMappedWithItsValues) {
  PagedArray<Value> array;
  for (uint32_t count = 1; array.size() < 300000; count += count / 2 + 1) {
    auto begin = static_cast<uint32_t>(array.size());
    Value *grown = array.grow(count);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(grown[i].parts[1], 0u) << "new values are zero";
      grown[i].parts[1] = begin + i + 1;
    }
  }
  for (uint32_t i = 0; i < array.size(); ++i)
    ASSERT_EQ(array[i].parts[1], i + 1);
}

TEST(PagedArray, movesOfBothKindsLeaveNothingBehind) {
  for (size_t size : {size_t{10}, size_t{100000}}) {
    PagedArray<uint64_t> from(size), into(7);
    from[size - 1] = 5;
    into = std::move(from);
    EXPECT_EQ(into.size(), size);
    EXPECT_EQ(into[size - 1], 5u);
  }
}

// Passes simulate thousands of small schedules. A mapping begins with a page.
TEST(PagedArray, smallArraysAreNotMapped) {
  std::vector<PagedArray<uint64_t>> arrays;
  size_t numAligned = 0;
  for (int i = 0; i < 100; ++i) {
    arrays.emplace_back(100);
    numAligned += reinterpret_cast<uintptr_t>(arrays.back().data()) % 4096 == 0;
  }
  EXPECT_LT(numAligned, 10u);
}

} // namespace
} // namespace colldsl
