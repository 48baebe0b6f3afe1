#include "verifier/SymbolicValues.h"

#include <gtest/gtest.h>

namespace colldsl::proof {
namespace {

struct ValuesTest : testing::Test {
  Value x(uint32_t rank, uint64_t position) {
    return {values.entry(Rank{rank}, BufferId{0}), position};
  }
  Value sum(Value left, Value right) {
    return values.combine(Reduction::Sum, ElementType::I32, left, right, kNoVertex);
  }
  std::vector<Leaf> leaves(Value value, size_t most = 100) const {
    return values.leaves(value.node, Reduction::Sum, ElementType::I32, 0, most);
  }

  Values values;
};

TEST_F(ValuesTest, theSameLineFromAnyPlaceIsOneNode) {
  Value whole = sum(x(0, 0), x(1, 8));
  Value rest = sum(x(0, 16), x(1, 24));
  EXPECT_EQ(whole.node, rest.node);
  EXPECT_EQ(rest.position, 16u);
}

TEST_F(ValuesTest, whateverDiffersIsAnotherNode) {
  NodeId node = sum(x(0, 0), x(1, 8)).node;
  EXPECT_NE(node, sum(x(0, 0), x(1, 12)).node);
  EXPECT_NE(node, sum(x(1, 8), x(0, 0)).node);
  EXPECT_NE(node, sum(x(0, 2), x(1, 10)).node); // other elements
  for (auto [reduction, type] :
       {std::pair(Reduction::Max, ElementType::I32), std::pair(Reduction::Sum, ElementType::F32)})
    EXPECT_NE(node, values.combine(reduction, type, x(0, 0), x(1, 8), kNoVertex).node);
}

TEST_F(ValuesTest, leavesStandInOrder) {
  Value tree = sum(sum(x(2, 0), x(0, 4)), sum(x(1, 8), x(2, 0)));
  std::vector<Leaf> expected{
      {x(2, 0).node, 0}, {x(0, 0).node, 4}, {x(1, 0).node, 8}, {x(2, 0).node, 0}};
  EXPECT_EQ(leaves(tree), expected);
}

TEST_F(ValuesTest, otherOperatorsAreLeaves) {
  Value max = values.combine(Reduction::Max, ElementType::I32, x(0, 0), x(1, 0), kNoVertex);
  EXPECT_EQ(leaves(sum(x(0, 0), max)).size(), 2u);
  EXPECT_EQ(leaves(max).size(), 1u);
}

TEST_F(ValuesTest, leavesAreBounded) {
  Value value = x(0, 0);
  for (int i = 0; i < 100; ++i)
    value = sum(value, value);
  EXPECT_EQ(leaves(value, 50).size(), 50u);
}

TEST_F(ValuesTest, theUnknownStaysUnknown) {
  EXPECT_EQ(sum(x(0, 0), Value()).node, kUnknown);
  EXPECT_EQ(sum(Value(), x(0, 0)).node, kUnknown);
}

TEST(ShiftedPhase, staysWithinAnElement) {
  EXPECT_EQ(shiftedPhase(1, 0, 4), 1);
  EXPECT_EQ(shiftedPhase(1, -3, 4), 2);
  EXPECT_EQ(shiftedPhase(3, 9, 4), 0);
}

} // namespace
} // namespace colldsl::proof
