// RTRs of static messages that stay with their senders: what goes over the network in which run.
#include "tests/protocol/ScriptedPair.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

using network::Kind;
using test::ScriptedPair;
using test::ScriptedPlan;

constexpr Transfer kStatic{.protocol = Protocol::Static};
constexpr Transfer kAnnounced{.protocol = Protocol::Static, .announced = true};
constexpr Transfer kCanary{.protocol = Protocol::Static, .canary = true};

/// A run whose receiver comes first.
void run(ScriptedPair &pair, ScriptedPlan &plan) {
  pair.frames.clear();
  pair.puts = pair.notifications = 0;
  plan.start();
  plan.recv();
  plan.pump();
  plan.send();
  plan.pump();
}

TEST(RemoteStatic, addressAndKeyGoOnce) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kStatic);
  run(pair, plan);
  EXPECT_TRUE(plan.isDone());
  EXPECT_EQ(pair.frames[Kind::Rtr], 1u);
  for (int i = 0; i < 3; ++i) {
    run(pair, plan);
    EXPECT_TRUE(plan.isDone());
    EXPECT_EQ(pair.frames.size(), 1u);
    EXPECT_EQ(pair.frames[Kind::Ready], 1u);
    EXPECT_EQ(pair.puts, 1u);
    EXPECT_EQ(pair.notifications, 1u);
  }
}

TEST(RemoteStatic, aSenderThatComesFirstIsAnsweredByReady) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kStatic);
  run(pair, plan);
  for (bool crosses : {true, false}) {
    pair.frames.clear();
    plan.start();
    plan.send();
    if (crosses)
      plan.recv();
    plan.pump();
    if (!crosses)
      plan.recv();
    plan.pump();
    EXPECT_TRUE(plan.isDone());
    EXPECT_EQ(pair.frames[Kind::Rts], 1u);
    EXPECT_EQ(pair.frames[crosses ? Kind::Ready : Kind::Rtr], 1u);
  }
  run(pair, plan);
  EXPECT_TRUE(plan.isDone());
  EXPECT_EQ(pair.frames[Kind::Ready], 1u);
}

TEST(RemoteStatic, anotherBufferHasAnRtrOfItsOwn) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kStatic);
  run(pair, plan);
  std::vector<std::byte> other(ScriptedPlan::kBytes);
  plan.start();
  pair.frames.clear();
  plan.recv(other.data());
  plan.pump();
  plan.send();
  plan.pump();
  EXPECT_EQ(other, plan.from);
  EXPECT_EQ(pair.frames[Kind::Rtr], 1u);
  EXPECT_EQ(pair.frames[Kind::Ready], 0u);
  EXPECT_EQ(pair.worker(1).numRtrs(), 1u);
  run(pair, plan); // and the first one again
  EXPECT_TRUE(plan.isDone());
  EXPECT_EQ(pair.frames[Kind::Rtr], 1u);
}

TEST(RemoteStatic, anAnnouncedMessageNeedsNothingButItsPut) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kAnnounced);
  run(pair, plan);
  EXPECT_TRUE(plan.isDone());
  for (int i = 0; i < 3; ++i) {
    run(pair, plan);
    EXPECT_TRUE(plan.isDone());
    EXPECT_TRUE(pair.frames.empty());
    EXPECT_EQ(pair.puts, 1u);
  }
}

TEST(RemoteStatic, aShortMessageIsPutIfItIsAnnounced) {
  for (const Transfer &transfer : {kStatic, kAnnounced}) {
    ScriptedPair pair(0, 2 * ScriptedPlan::kBytes);
    ScriptedPlan plan(pair, transfer);
    for (uint32_t i = 0; i < 3; ++i) {
      run(pair, plan);
      EXPECT_TRUE(plan.isDone());
      EXPECT_EQ(pair.puts, transfer.announced ? 1u : 0u);
    }
  }
}

// The RTR of the first run comes behind the message.
TEST(RemoteStatic, anAnnouncedMessageThatWasEagerIsPutLater) {
  ScriptedPair pair(0, 2 * ScriptedPlan::kBytes);
  ScriptedPlan plan(pair, kAnnounced);
  plan.start();
  plan.recv();
  plan.send();
  plan.pump();
  EXPECT_TRUE(plan.isDone());
  EXPECT_EQ(pair.frames[Kind::Eager], 1u);
  run(pair, plan);
  EXPECT_TRUE(plan.isDone());
  EXPECT_TRUE(pair.frames.empty());
  EXPECT_EQ(pair.puts, 1u);
}

TEST(RemoteStatic, theBufferOfAnAnnouncedMessageStays) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kAnnounced);
  std::vector<std::byte> other(ScriptedPlan::kBytes);
  iovec same = {plan.to.data(), plan.to.size()}, moved = {other.data(), other.size()},
        shorter = {plan.to.data(), plan.to.size() / 2};
  auto mayReceive = [&](const iovec &piece) {
    return plan.channels[1]->mayReceive({0, 0}, {&piece, 1, true, false, piece.iov_len});
  };
  EXPECT_TRUE(mayReceive(moved)) << "before the first run";
  run(pair, plan);
  EXPECT_TRUE(mayReceive(same));
  EXPECT_EQ(mayReceive(moved).message(),
            "an announced message from rank 0 has 16 bytes at an address that its sender knows, "
            "and now would have 16 bytes at another address; open another plan for other buffers");
  EXPECT_EQ(mayReceive(shorter).message(),
            "an announced message from rank 0 has 16 bytes at an address that its sender knows, "
            "and now would have 8 bytes; open another plan for other buffers");
}

TEST(RemoteStatic, aCanaryNeedsNoNotification) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kCanary);
  for (int i = 0; i < 3; ++i) {
    run(pair, plan);
    EXPECT_TRUE(plan.isDone());
    EXPECT_EQ(pair.puts, 1u);
    EXPECT_EQ(pair.notifications, 0u);
  }
}

TEST(RemoteStatic, aPayloadThatEndsInTheCanaryIsNotified) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kCanary);
  for (bool clashes : {true, false, true, true}) {
    plan.from.back() = clashes ? network::kCanary : std::byte{3};
    run(pair, plan);
    EXPECT_TRUE(plan.isDone());
    EXPECT_EQ(pair.puts, 1u);
    EXPECT_EQ(pair.notifications, clashes ? 1u : 0u);
  }
}

TEST(RemoteStatic, aReceiverThatSleepsIsNotified) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kCanary);
  run(pair, plan);
  for (bool putsFirst : {false, true, false}) {
    pair.frames.clear();
    pair.notifications = 0;
    plan.start();
    plan.recv();
    plan.pump();
    if (putsFirst)
      plan.send();
    (void)pair.worker(1).wakeup();
    plan.pump();
    if (!putsFirst)
      plan.send();
    plan.pump();
    EXPECT_TRUE(plan.isDone());
    EXPECT_EQ(pair.notifications, putsFirst ? 0u : 1u);
    EXPECT_EQ(pair.frames[Kind::Notify], putsFirst ? 2u : 1u) << "the request, and the answer";
  }
  pair.notifications = 0;
  run(pair, plan);
  EXPECT_TRUE(plan.isDone());
  EXPECT_EQ(pair.notifications, 0u) << "it does not sleep in this run";
}

// The notification of a run must not end the next one.
TEST(RemoteStatic, aNotifiedPutEndsItsReceiveOnce) {
  ScriptedPair pair;
  ScriptedPlan plan(pair, kCanary);
  run(pair, plan);
  plan.start();
  plan.recv();
  plan.pump();
  (void)pair.worker(1).wakeup();
  plan.pump();
  plan.send();
  pair.moveBytes();
  plan.channels[1]->poll();
  EXPECT_EQ(plan.done[1], 0u) << "the last byte has changed, and the notification is to come";
  plan.pump();
  EXPECT_TRUE(plan.isDone());
}

// The same places of messages, and the same runs.
TEST(RemoteStatic, twoPlansAtOnce) {
  ScriptedPair pair;
  ScriptedPlan first(pair, kStatic), second(pair, kCanary);
  second.from.assign(second.from.size(), std::byte{9});
  for (int i = 0; i < 3; ++i) {
    first.start();
    second.start();
    first.recv();
    second.recv();
    first.pump();
    second.send();
    first.send();
    first.pump();
    second.pump();
    EXPECT_TRUE(first.isDone());
    EXPECT_TRUE(second.isDone());
  }
}

TEST(RemoteStatic, aClosedPlanLeavesNoRtr) {
  ScriptedPair pair;
  {
    ScriptedPlan plan(pair, kCanary);
    run(pair, plan);
    EXPECT_EQ(pair.worker(1).numRtrs(), 1u);
    for (auto &end : plan.channels)
      end.reset();
  }
  EXPECT_EQ(pair.worker(1).numRtrs(), 0u);
  ScriptedPlan next(pair, kStatic);
  run(pair, next);
  EXPECT_TRUE(next.isDone());
}

// Nothing is left that is watched, or put.
TEST(RemoteStatic, aReceiverThatCancelsBetweenReadyAndPut) {
  ScriptedPair pair;
  auto plan = std::make_unique<ScriptedPlan>(pair, kCanary);
  run(pair, *plan);
  plan->start();
  plan->recv();
  plan->channels[1]->abort({Rank{1}, kNoOp, "it fails"});
  plan->pump();
  plan->channels[0]->check();
  EXPECT_TRUE(plan->channels[0]->failed());
  plan->channels[1]->cancel();
  std::byte last = plan->to.back();
  plan->to.back() = std::byte{1};
  plan->pump();
  EXPECT_EQ(last, network::kCanary);
  EXPECT_EQ(plan->done[1], 0u);
  plan.reset();
  EXPECT_EQ(pair.worker(1).numRtrs(), 0u);
}

} // namespace
} // namespace colldsl::protocol
