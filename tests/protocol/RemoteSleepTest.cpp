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

} // namespace
} // namespace colldsl::protocol
