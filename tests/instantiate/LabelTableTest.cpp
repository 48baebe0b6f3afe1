#include "instantiate/LabelTable.h"

#include <gtest/gtest.h>

using namespace colldsl;

namespace {

TEST(LabelTable, KeepsOneRangePerNameAndIndex) {
  LabelTable labels;
  LabelTable::Scope frame = labels.open(2);
  EXPECT_TRUE(labels.set(frame, 0, 3, {10, 11}));
  EXPECT_TRUE(labels.set(frame, 1, 3, {12, 14}));
  EXPECT_FALSE(labels.set(frame, 0, 3, {20, 21}));
  ASSERT_NE(labels.find(frame, 0, 3), nullptr);
  EXPECT_EQ(labels.find(frame, 0, 3)->first, 10u);
  EXPECT_EQ(labels.find(frame, 1, 3)->last, 14u);
  EXPECT_EQ(labels.find(frame, 0, 2), nullptr);
  EXPECT_EQ(labels.find(frame, 1, 4000), nullptr);
}

/// Beyond the direct entries, at their border, negative, joined from several.
class AnyIndex : public testing::TestWithParam<int64_t> {};

TEST_P(AnyIndex, IsFoundAgainAndOnlyOnce) {
  LabelTable labels;
  LabelTable::Scope frame = labels.open(1);
  EXPECT_EQ(labels.find(frame, 0, GetParam()), nullptr);
  EXPECT_TRUE(labels.set(frame, 0, GetParam(), {1, 2}));
  EXPECT_FALSE(labels.set(frame, 0, GetParam(), {3, 4}));
  ASSERT_NE(labels.find(frame, 0, GetParam()), nullptr);
  EXPECT_EQ(labels.find(frame, 0, GetParam())->first, 1u);
  EXPECT_EQ(labels.find(frame, 0, GetParam() ^ 1), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Indices, AnyIndex,
                         testing::Values(0, 1, 4095, 4096, 4097, -1, INT64_MAX, INT64_MIN,
                                         joinIndices(0, 0), joinIndices(7, -7)));

TEST(LabelTable, OrderOfJoinedIndicesMatters) {
  EXPECT_NE(joinIndices(1, 2), joinIndices(2, 1));
  EXPECT_LT(joinIndices(0, 1), 0) << "must not look like a small index";
}

TEST(LabelTable, FramesSeeOnlyTheirOwn) {
  LabelTable labels;
  LabelTable::Scope outer = labels.open(1);
  EXPECT_TRUE(labels.set(outer, 0, 5, {1, 2}));
  for (int64_t i : {5, 9000}) {
    LabelTable::Scope inner = labels.open(1);
    EXPECT_EQ(labels.find(inner, 0, i), nullptr);
    EXPECT_TRUE(labels.set(inner, 0, i, {3, 4}));
    labels.close(inner);
  }
  LabelTable::Scope again = labels.open(1);
  EXPECT_EQ(labels.find(again, 0, 5), nullptr) << "left by a frame that is gone";
  EXPECT_EQ(labels.find(again, 0, 9000), nullptr) << "left by a frame that is gone";
  EXPECT_EQ(labels.find(outer, 0, 5)->first, 1u);
}

} // namespace
