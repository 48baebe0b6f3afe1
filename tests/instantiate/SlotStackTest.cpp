#include "instantiate/SlotStack.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace colldsl;

namespace {

TEST(SlotStack, ItsElementsDoNotMove) {
  SlotStack<int> stack;
  std::vector<int *> pieces;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < 200; ++i) {
    size_t size = i * 37 % 500;
    int *piece = stack.push(size);
    std::fill_n(piece, size, static_cast<int>(i));
    pieces.push_back(piece);
    sizes.push_back(size);
  }
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t k = 0; k < sizes[i]; ++k)
      ASSERT_EQ(pieces[i][k], static_cast<int>(i)) << "piece " << i;
}

TEST(SlotStack, ReleasedSpaceIsUsedAgain) {
  SlotStack<int> stack;
  stack.push(10);
  auto mark = stack.mark();
  int *first = stack.push(5);
  stack.push(100'000); // a chunk of its own
  stack.release(mark);
  EXPECT_EQ(stack.push(5), first);
  int *big = stack.push(100'000);
  stack.release(mark);
  stack.push(5);
  EXPECT_EQ(stack.push(100'000), big);
}

TEST(SlotStack, HoldsNothingAtAll) {
  SlotStack<int> stack;
  auto mark = stack.mark();
  EXPECT_NE(stack.push(0), nullptr);
  stack.release(mark);
}

} // namespace
