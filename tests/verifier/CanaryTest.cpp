#include "tests/verifier/CanaryModel.h"

#include <gtest/gtest.h>

namespace colldsl::proof {
namespace {

// Payloads that end in the canary included, twice in a row.
TEST(Canary, EveryMessageCompletesWithAllItsBytes) { EXPECT_EQ(refuteCanary({}), ""); }

TEST(Canary, WithoutTheFlagAClashNeverCompletes) {
  EXPECT_EQ(refuteCanary({.setsFlag = false}), "a payload that ends in the canary never completes");
}

TEST(Canary, OutOfOrderItCompletesTooEarly) {
  EXPECT_EQ(refuteCanary({.commitsInOrder = false}),
            "a message is taken to be complete before all of its bytes are there");
}

TEST(Canary, AStaleFlagEndsTheNextMessageTooEarly) {
  EXPECT_EQ(refuteCanary({.clearsFlag = false}),
            "a message is taken to be complete before all of its bytes are there");
}

TEST(Canary, MustBeWrittenBeforeTheReadySignal) {
  EXPECT_NE(refuteCanary({.lastByteFirst = false}), "");
}

} // namespace
} // namespace colldsl::proof
