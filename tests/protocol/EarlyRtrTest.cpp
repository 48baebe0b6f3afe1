// A sender that has an early RTR, and finds that it cannot put: the receiver takes no notice of a
// request that its RTR fits, so the sender has to say that it wants something else.
#include "tests/protocol/ScriptedPair.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

using test::ScriptedPair;
using test::ScriptedPlan;

constexpr Transfer kStatic{.protocol = Protocol::Static};
constexpr uint8_t kNoWrites = colldsl::test::maskOf(network::Access::Write);

TEST(EarlyRtr, ASenderThatCannotPutRequestsFragments) {
  ScriptedPair pair(kNoWrites);
  ScriptedPlan plan(pair, kStatic);
  plan.start();
  plan.recv();
  plan.pump();
  plan.send();
  plan.pump();
  EXPECT_TRUE(plan.isDone());
}

TEST(EarlyRtr, ASenderThatCannotPutRepeatsItsEarlierRequest) {
  ScriptedPair pair(kNoWrites);
  ScriptedPlan plan(pair, kStatic);
  plan.start();
  plan.recv();
  plan.send(); // the request and the RTR cross
  plan.pump();
  EXPECT_TRUE(plan.isDone());
}

} // namespace
} // namespace colldsl::protocol
