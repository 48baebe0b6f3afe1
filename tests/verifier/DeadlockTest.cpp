#include "tests/verifier/Collectives.h"
#include "verifier/EventGraph.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Deadlock, bothSendFirst) {
  ScheduleBuilder b(2);
  for (uint32_t r = 0; r < 2; ++r) {
    OpId send = b.sendBytes(r, 8, 1 - r);
    b.recvBytes(r, 8, 1 - r, {requires_(send)});
  }
  VerifyReport report = b.verify();
  ASSERT_TRUE(fails(report, Proof::Deadlock,
                    {"4 ops on 2 ranks wait for each other if sends are synchronous",
                     "send 8 bytes to 1 cannot finish before rank 1's recv 8 bytes from 0 (line 2) "
                     "starts: a synchronous send waits for its receive",
                     "recv 8 bytes from 0 cannot start before rank 1's send 8 bytes to 0 (line 1) "
                     "finishes: it requires that op"}))
      << b.verdict();
  EXPECT_EQ(report.failures[0].steps.size(), 4u);
}

// There is an order to execute in, in which the data is wrong.
TEST(Deadlock, ofSynchronousSendsDoesNotHideWrongData) {
  ScheduleBuilder b(2);
  b.followsData = false;
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  for (uint32_t r = 0; r < 2; ++r) {
    OpId send = b.send(r, {b.blockOf(x, 0)}, 1 - r);
    b.recv(r, {b.blockOf(y, 0)}, 1 - r, {requires_(send)});
    b.ensure(r, b.blockOf(y, 0), r, b.blockOf(x, 0));
  }
  VerifyReport report = b.verify();
  EXPECT_TRUE(fails(report, Proof::Deadlock, {"if sends are synchronous"})) << b.verdict();
  EXPECT_TRUE(fails(report, Proof::Contract, {"holds x[0..8]@1, but x[0..8]@0 was promised"}))
      << b.verdict();
  EXPECT_TRUE(report.skipped.empty()) << b.verdict();
}

TEST(Deadlock, bothSendFirstWithoutOrderIsFine) {
  ScheduleBuilder b(2);
  for (uint32_t r = 0; r < 2; ++r) {
    b.sendBytes(r, 8, 1 - r);
    b.recvBytes(r, 8, 1 - r);
  }
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

/// Every rank waits for its left neighbour before it signals to the right one.
ScheduleBuilder signalRing(uint32_t ranks, uint32_t firstToSignal) {
  ScheduleBuilder b(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t left = (r + ranks - 1) % ranks, right = (r + 1) % ranks;
    if (r == firstToSignal) {
      OpId signal = b.signal(r, right);
      b.wait(r, left, {requires_(signal)});
    } else {
      OpId wait = b.wait(r, left);
      b.signal(r, right, {requires_(wait)});
    }
  }
  return b;
}

TEST(Deadlock, signalCycleOverThreeRanks) {
  ScheduleBuilder b = signalRing(3, 3);
  VerifyReport report = b.verify();
  EXPECT_TRUE(fails(report, Proof::Deadlock,
                    {"6 ops on 3 ranks wait for each other, however much is buffered",
                     "wait from 2 cannot finish before rank 2's signal to 0 (line 2) starts: its "
                     "message comes from there",
                     "signal to 1 cannot start before rank 0's wait from 2 (line 1) finishes"}))
      << b.verdict();
  EXPECT_EQ(report.failures[0].steps[0].rank, Rank{0});
}

TEST(Deadlock, signalRingWithABeginningIsFine) { EXPECT_TRUE(signalRing(3, 1).verify().proved()); }

TEST(Deadlock, theCycleIsAShortestOne) {
  ScheduleBuilder b = signalRing(7, 7);
  for (uint32_t r = 0; r < 2; ++r) {
    OpId wait = b.wait(r, 1 - r, {}, 5);
    b.signal(r, 1 - r, {requires_(wait)}, 5);
  }
  EXPECT_TRUE(fails(b.verify(), Proof::Deadlock, {"4 ops on 2 ranks"})) << b.verdict();
}

TEST(Deadlock, aSelfMessageThatWaitsForItself) {
  ScheduleBuilder b(1);
  OpId wait = b.wait(0, 0);
  b.signal(0, 0, {requires_(wait)});
  EXPECT_TRUE(fails(b.verify(), Proof::Deadlock, {"2 ops on 1 rank"})) << b.verdict();
}

TEST(Deadlock, startsAloneMayWaitForStarts) {
  ScheduleBuilder b(2);
  for (uint32_t r = 0; r < 2; ++r) {
    OpId send = b.sendBytes(r, 8, 1 - r);
    b.recvBytes(r, 8, 1 - r, {irequires(send)});
  }
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

// A rendezvous per message does not deadlock here, a FIFO channel does: its head is never taken.
TEST(Deadlock, finiteChannelsDeadlockWhereSynchronousSendsDoNot) {
  ScheduleBuilder b(2);
  b.sendBytes(0, 8, 1, {}, 1);
  b.sendBytes(0, 8, 0); // of another channel
  b.recvBytes(0, 8, 0);
  b.sendBytes(0, 16, 1, {}, 2);
  OpId second = b.recvBytes(1, 16, 0, {}, 2);
  b.recvBytes(1, 8, 0, {requires_(second)}, 1);
  EXPECT_TRUE(fails(b.verify(), Proof::Deadlock,
                    {"2 ops on 1 rank wait for each other over FIFO channels of 8 slots",
                     "recv 16 bytes from 0 cannot finish before rank 1's recv 8 bytes from 0 "
                     "(line 2) finishes: its message lies behind that one in their channel"}))
      << b.verdict();
}

// The first send of a channel waits, by way of rank 2, for the second one, which cannot go first.
TEST(Deadlock, channelsAreFilledInProgramOrder) {
  ScheduleBuilder b(3);
  OpId heard = b.wait(0, 2);
  b.sendBytes(0, 8, 1, {requires_(heard)});
  OpId second = b.sendBytes(0, 16, 1);
  b.signal(0, 2, {requires_(second)});
  b.signal(2, 0, {requires_(b.wait(2, 0))});
  b.recvBytes(1, 8, 0);
  b.recvBytes(1, 16, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Deadlock,
                    {"over FIFO channels of 8 slots",
                     "send 16 bytes to 1 cannot start before rank 0's send 8 bytes to 1 (line 2) "
                     "starts: it comes later in their channel"}))
      << b.verdict();
}

/// Rank 1 posts its receives only when it hears, by way of rank 2, that the last of `count`
/// sends has started.
ScheduleBuilder burst(uint32_t count) {
  ScheduleBuilder b(3);
  OpId last{};
  for (uint32_t i = 0; i < count; ++i)
    last = b.sendBytes(0, 8, 1);
  b.signal(0, 2, {irequires(last)});
  OpId heard = b.wait(2, 0);
  b.signal(2, 1, {requires_(heard)});
  OpId go = b.wait(1, 2);
  for (uint32_t i = 0; i < count; ++i)
    b.recvBytes(1, 8, 0, {requires_(go)});
  return b;
}

TEST(Deadlock, aBurstNeedsAsManySlots) {
  VerifyOptions slots;
  slots.channelSlots = 8;
  EXPECT_TRUE(burst(8).verify(slots).proved()) << burst(8).verdict(slots);
  EXPECT_TRUE(fails(burst(9).verify(slots), Proof::Deadlock,
                    {"FIFO channels of 8 slots", "it needs the slot of that message"}))
      << burst(9).verdict(slots);
  slots.channelSlots = 9;
  EXPECT_TRUE(burst(9).verify(slots).proved());
  slots.channelSlots = 0;
  EXPECT_TRUE(burst(50).verify(slots).proved());
}

TEST(Deadlock, oneSlotIsEnoughForARing) {
  VerifyOptions oneSlot;
  oneSlot.channelSlots = 1;
  EXPECT_TRUE(ringAllgather(5).verify(oneSlot).proved()) << ringAllgather(5).verdict(oneSlot);
}

// Nothing travels in a message of size zero, so no op waits for it.
TEST(Deadlock, emptyMessagesDoNotWait) {
  ScheduleBuilder b(2);
  BufferId x = b.param("x", BufferRole::In);
  for (uint32_t r = 0; r < 2; ++r) {
    BufferId t = b.temp(r, "t");
    OpId recv = b.recv(r, {b.elementsOf(t, 0, 0)}, 1 - r);
    b.send(r, {b.elementsOf(x, 0, 0)}, 1 - r, {requires_(recv)});
  }
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

bool hasCycle(const ScheduleBuilder &b, const Schedule &schedule, proof::Rules rules) {
  proof::Model model(schedule, b.sizes());
  proof::Placement placement(model);
  proof::DiagnosticNames names(model, placement);
  proof::Failures failures(model, 1);
  proof::Messages messages = proof::matchMessages(model, placement, names, failures);
  proof::EventGraph graph(model, messages, 1);
  return proof::topologicalOrder(graph, rules).size() < graph.numEvents();
}

// The channel lets rank 0 send its second message once rank 1 has taken the first, for which rank 1
// waits until rank 2 was received from, with synchronous sends; and that comes after the second.
TEST(Deadlock, aCycleOfBothRulesIsNone) {
  ScheduleBuilder b(4);
  b.signal(0, 1);
  b.signal(0, 1);
  OpId relayed = b.wait(1, 3);
  b.wait(1, 0, {requires_(relayed)});
  OpId second = b.wait(1, 0);
  b.wait(1, 2, {requires_(second)});
  OpId sent = b.signal(2, 1);
  b.signal(2, 3, {requires_(sent)});
  OpId heard = b.wait(3, 2);
  b.signal(3, 1, {requires_(heard)});
  EXPECT_TRUE(hasCycle(b, b.schedule(), proof::Rules::Both));
  EXPECT_FALSE(hasCycle(b, b.schedule(), proof::Rules::SynchronousSends));
  EXPECT_FALSE(hasCycle(b, b.schedule(), proof::Rules::FiniteChannels));
  VerifyOptions oneSlot;
  oneSlot.channelSlots = 1;
  EXPECT_TRUE(b.verify(oneSlot).proved()) << b.verdict(oneSlot);
}

} // namespace
} // namespace colldsl::test
