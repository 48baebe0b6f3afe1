// How a rank waits for its transport.
#include "tests/protocol/CountedYields.h"
#include "tests/protocol/ScriptedPair.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

using namespace std::chrono_literals;
using test::ScriptedPair;

/// How often a rank yields its core in a sleep, where its transport is to be waited for like this.
uint32_t yieldsIn(ScriptedPair &pair, std::optional<network::Transport::Wait> wait) {
  RemoteWorker &worker = pair.worker(0);
  pair.transport(0).wait = wait;
  uint32_t before = colldsl::test::numYields;
  worker.sleep(worker.armSleep(), 1us);
  return colldsl::test::numYields - before;
}

// The peer that has to answer may need this core.
TEST(RemoteSleep, aRankThatCannotSleepYieldsItsCore) {
  ScriptedPair pair;
  EXPECT_EQ(yieldsIn(pair, network::Transport::Wait{-1, 0ns}), 1u);
  EXPECT_EQ(yieldsIn(pair, network::Transport::Wait{-1, 1us}), 0u) << "it sleeps";
  EXPECT_EQ(yieldsIn(pair, std::nullopt), 0u) << "there is an event";
}

// The worker may move for one thread what another one waits for, which looked before and has not
// slept yet: that one must not sleep then.
TEST(RemoteSleep, aThreadThatIsAboutToSleepNoticesWhatOthersMove) {
  ScriptedPair pair;
  test::ScriptedPlan plan(pair, {});
  uint32_t numMoved = 0;
  plan.start();
  plan.recv();
  plan.send();
  pair.pump([&](uint32_t rank) {
    RemoteWorker &worker = pair.worker(rank);
    WakeupEpoch armed = worker.armSleep();
    bool moved = worker.progress();
    numMoved += moved;
    EXPECT_EQ(worker.armSleep() != armed, moved);
  });
  EXPECT_GT(numMoved, 0u);
}

} // namespace
} // namespace colldsl::protocol
