// Which machines look alike to what looks at some levels of them.
#include "topology/LevelSet.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

Topology machine(const char *description, uint32_t ranks) {
  Result<Topology> made = Topology::make(description, ranks);
  EXPECT_TRUE(made.ok()) << description << ": " << made.message();
  return made ? made.take() : Topology::flat(ranks);
}

LevelSet levels(std::initializer_list<Level> all) {
  LevelSet set;
  for (Level level : all)
    set.add(level);
  return set;
}

bool areAlike(const char *one, const char *other, LevelSet set, uint32_t ranks = 4) {
  return signatureOf(machine(one, ranks), set) == signatureOf(machine(other, ranks), set);
}

TEST(LevelSet, TheGroupOfAllRanksIsNoLevelOfTheMachine) {
  EXPECT_TRUE(levels({Level::All}).empty());
  for (Level level : kLevels)
    if (level != Level::All) {
      EXPECT_TRUE(levels({level}).has(level));
      EXPECT_FALSE(levels({level}).hasDistances());
    }
  EXPECT_TRUE(LevelSet::wholeMachine().hasDistances());
}

TEST(LevelSet, AllMachinesAreAlikeToWhatLooksAtNone) {
  EXPECT_TRUE(areAlike("flat", "node:4", {}));
  EXPECT_EQ(signatureOf(machine("node:4", 4), {}), 0u);
}

TEST(LevelSet, OnlyTheLevelsThatAreLookedAtCount) {
  EXPECT_TRUE(areAlike("node:2 core:2", "node:2 package:2 core:1", levels({Level::Node})));
  EXPECT_FALSE(areAlike("node:2 core:2", "node:2 package:2 core:1", levels({Level::Socket})));
  EXPECT_FALSE(
      areAlike("node:2 core:2", "node:2 package:2 core:1", levels({Level::Node, Level::Socket})));
  EXPECT_FALSE(areAlike("node:2 core:2", "node:2 core:2 bind=scatter", levels({Level::Node})));
}

TEST(LevelSet, NumbersOfGroupsDoNotCount) {
  EXPECT_TRUE(areAlike("node:2 core:2", "node:2 core:2 bind=2,3,0,1", levels({Level::Node})));
}

TEST(LevelSet, DistancesTellMachinesWithEqualGroupsApart) {
  EXPECT_TRUE(areAlike("core:4", "l2:2 core:2", levels({Level::Node})));
  EXPECT_FALSE(areAlike("core:4", "l2:2 core:2", LevelSet::wholeMachine()));
}

} // namespace
} // namespace colldsl
