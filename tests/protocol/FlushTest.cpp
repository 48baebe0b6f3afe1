// Frames that the transport has taken, and that wait in the process for a poll.
#include "tests/protocol/ScriptedPair.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

using test::ScriptedPair;
using test::ScriptedPlan;

TEST(Flush, AnEagerMessageIsFlushedOnceItsFrameIsSent) {
  for (bool holdsFrames : {false, true}) {
    ScriptedPair pair(0, 64);
    if (holdsFrames)
      pair.transport(0).holdFrames();
    ScriptedPlan plan(pair, {});
    EXPECT_TRUE(plan.channels[0]->isFlushed());
    plan.start();
    plan.recv();
    plan.send();
    EXPECT_EQ(plan.done[0], 1u) << "the sender may use its memory again";
    EXPECT_EQ(plan.channels[0]->isFlushed(), !holdsFrames);
    plan.pump();
    EXPECT_TRUE(plan.isDone());
    EXPECT_TRUE(plan.channels[0]->isFlushed());
  }
}

} // namespace
} // namespace colldsl::protocol
