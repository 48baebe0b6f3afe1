// What may be on the way between two ends of a connection that stops no sender.
#include "transports/verbs/Credits.h"

#include <array>
#include <deque>
#include <gtest/gtest.h>
#include <random>

namespace colldsl::verbs {
namespace {

// Each end has so many receives; what flies is in order.
struct Ends {
  struct End {
    explicit End(uint32_t promised) : credits(promised), receives(promised + Credits::kSpare) {}
    Credits credits;
    uint32_t receives;    ///< free ones
    uint32_t missing = 0; ///< which the device did not take
    uint32_t said = 0, received = 0;
    std::deque<std::pair<bool, uint32_t>> coming; ///< whether it is a frame, and credits
  };
  std::array<End, 2> ends;

  Ends(uint32_t first, uint32_t second) : ends{End(first), End(second)} {
    ends[0].credits.setPromised(second);
    ends[1].credits.setPromised(first);
  }

  // What arrives finds a receive, or not: false.
  bool send(int from, bool isFrame) {
    End &to = ends[1 - from];
    if (to.receives == 0)
      return false;
    --to.receives;
    to.coming.push_back({isFrame, isFrame ? 0 : ends[from].credits.give(ends[from].missing)});
    return true;
  }
  bool say(int from) {
    End &end = ends[from];
    if (!end.credits.has(1, end.missing))
      return true;
    end.credits.use(1);
    ++end.said;
    return send(from, true);
  }
  bool look(int self, bool isCramped = false) {
    End &end = ends[self];
    if (!isCramped)
      end.receives += std::exchange(end.missing, 0);
    if (!end.coming.empty()) {
      auto [isFrame, credits] = end.coming.front();
      end.coming.pop_front();
      ++(isCramped ? end.missing : end.receives);
      end.received += isFrame;
      end.credits.add(credits);
      if (isFrame)
        end.credits.owe();
    }
    return !end.credits.mustGive(end.missing) || send(self, false);
  }
};

TEST(Credits, eachFrameFindsAReceiveWhoeverLooksHowOften) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Ends ends(1 + seed % 9, 1 + seed / 9 % 9);
    std::discrete_distribution<int> step({3.0, 1.0 + seed % 7, 1.0 + seed % 5, 1.0 + seed % 3});
    for (int i = 0; i < 3000; ++i) {
      int which = step(random);
      bool isCramped = random() % 8 < seed % 3;
      ASSERT_TRUE(which < 2 ? ends.say(which) : ends.look(which - 2, isCramped)) << seed;
    }
  }
}

// Two ends that have none left give each other what they owe.
TEST(Credits, noSenderWaitsForEver) {
  for (uint32_t promised = 1; promised <= 9; ++promised) {
    Ends ends(promised, 10 - promised);
    for (int i = 0; i < 1000; ++i) {
      for (int self : {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1})
        ASSERT_TRUE(ends.say(self));
      for (int self : {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1})
        ASSERT_TRUE(ends.look(self));
    }
    EXPECT_GE(ends.ends[0].received, 1000u);
    EXPECT_GE(ends.ends[1].received, 1000u);
  }
}

} // namespace
} // namespace colldsl::verbs
