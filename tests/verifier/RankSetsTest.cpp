#include "verifier/RankSets.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace colldsl::proof {
namespace {

using Members = std::vector<bool>;

/// Sets that grew out of single ranks, each beside its members.
class Grown {
public:
  Grown(uint32_t numRanks, uint32_t seed) : numRanks_(numRanks), random_(seed), sets_(numRanks) {
    for (uint32_t r = 0; r < numRanks; ++r) {
      Members members(numRanks);
      members[r] = true;
      all_.push_back({RankSets::of(Rank{r}), members});
    }
  }

  /// Of two of the last sets, or of any two.
  void uniteTwo() {
    uint32_t recent = std::min<uint32_t>(20, static_cast<uint32_t>(all_.size()));
    auto pick = [&]() -> size_t {
      return random_() % 3 ? all_.size() - 1 - random_() % recent : random_() % all_.size();
    };
    const auto &a = all_[pick()], &b = all_[pick()];
    Members members(numRanks_);
    for (uint32_t r = 0; r < numRanks_; ++r)
      members[r] = a.members[r] || b.members[r];
    all_.push_back({sets_.unite(a.set, b.set), members});
  }

  /// That the last set has its members: with all others it is complete, and with all but one of
  /// them it is not.
  void checkLast() {
    const auto &[set, members] = all_.back();
    ASSERT_EQ(sets_.isAll(set), std::find(members.begin(), members.end(), false) == members.end());
    std::vector<uint32_t> others;
    for (uint32_t r = 0; r < numRanks_; ++r)
      if (!members[r])
        others.push_back(r);
    RankSets::Set rest = RankSets::none();
    uint32_t without = others.empty() ? 0 : others[random_() % others.size()];
    for (uint32_t r : others)
      if (r != without)
        rest = sets_.unite(rest, RankSets::of(Rank{r}));
    RankSets::Set nearly = sets_.unite(set, rest);
    ASSERT_EQ(sets_.isAll(nearly), others.empty());
    ASSERT_TRUE(sets_.isAll(sets_.unite(RankSets::of(Rank{without}), nearly)));
  }

private:
  struct Known {
    RankSets::Set set;
    Members members;
  };

  uint32_t numRanks_;
  std::mt19937 random_;
  RankSets sets_;
  std::vector<Known> all_;
};

TEST(RankSets, agreeWithListsOfMembers) {
  for (uint32_t numRanks : {1, 2, 5, 63, 64, 65, 127, 128, 129, 200, 256, 300})
    for (uint32_t seed = 0; seed < 8; ++seed) {
      Grown grown(numRanks, seed);
      for (int step = 0; step < 60; ++step) {
        grown.uniteTwo();
        ASSERT_NO_FATAL_FAILURE(grown.checkLast()) << numRanks << " ranks, seed " << seed;
      }
    }
}

TEST(RankSets, intervalsThatMeetTakeNoSteps) {
  constexpr uint32_t kRanks = 1000;
  RankSets sets(kRanks);
  RankSets::Set set = RankSets::of(Rank{990});
  for (uint32_t i = 1; i < kRanks; ++i) {
    EXPECT_FALSE(sets.isAll(set));
    set = sets.unite(RankSets::of(Rank{(990 + i) % kRanks}), set);
  }
  EXPECT_TRUE(sets.isAll(set));
  EXPECT_EQ(sets.steps(), 0u);
}

TEST(RankSets, whatIsAlikeIsOne) {
  constexpr uint32_t kRanks = 1 << 16;
  RankSets sets(kRanks);
  std::vector<RankSets::Set> classes; // every eighth rank
  for (uint32_t first = 0; first < 8; ++first) {
    RankSets::Set set = RankSets::none();
    for (uint32_t r = first; r < kRanks; r += 8)
      set = sets.unite(set, RankSets::of(Rank{r}));
    classes.push_back(set);
  }
  uint64_t before = sets.steps();
  RankSets::Set all = RankSets::none();
  for (RankSets::Set set : classes) {
    EXPECT_FALSE(sets.isAll(all));
    all = sets.unite(all, set);
  }
  EXPECT_TRUE(sets.isAll(all));
  EXPECT_LT(sets.steps() - before, 8u * 2 * kRanks / 64);
}

} // namespace
} // namespace colldsl::proof
