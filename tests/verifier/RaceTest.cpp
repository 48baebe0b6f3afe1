#include "tests/verifier/Collectives.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

/// Two ranks; rank 0 works in a temporary of two blocks, without deps of its own.
struct Races : testing::Test {
  Races() : b(2), x(b.param("x", BufferRole::In)), t(b.temp(0, "t", 2)) {
    b.followsData = false;
    b.copy(0, {in(0)}, {b.blockOf(t, 0)}); // op 0
  }
  Slice in(int64_t begin) const { return b.elementsOf(x, begin, 8); }

  ScheduleBuilder b;
  BufferId x, t;
};

TEST_F(Races, twoReceivesIntoOverlappingBytes) {
  for (uint32_t i = 0; i < 2; ++i) {
    b.send(1, {b.elementsOf(x, 0, 4)}, 0);
    b.recv(0, {b.elementsOf(t, 8 + 2 * i, 12 + 2 * i)}, 1);
  }
  EXPECT_TRUE(fails(b.verify(), Proof::Races,
                    {"rank 0's recv t[8..12] from 1 (line 2)", "recv t[10..14] from 1",
                     "touch the same bytes, t[10..12], and neither waits for the other"}))
      << b.verdict();
}

TEST_F(Races, stepsNameWhatTheOpsRequire) {
  b.copy(0, {in(0)}, {b.blockOf(t, 1)});
  b.copy(0, {b.blockOf(t, 1)}, {b.blockOf(t, 0)}, {requires_(OpId{1})});
  EXPECT_TRUE(fails(b.verify(), Proof::Races,
                    {"writes t[0..8]; of the ops before it, it requires none",
                     "writes t[0..8]; of the ops before it, it requires 1 alone"}))
      << b.verdict();
}

TEST_F(Races, aStoppedProofIsNone) {
  std::atomic<bool> stop{true};
  VerifyOptions options;
  options.stop = &stop;
  VerifyReport report = b.verify(options);
  ASSERT_FALSE(report.proved());
  EXPECT_EQ(report.failures.back().message, "the proof was stopped");
}

TEST_F(Races, adjacentBytesAreNoRace) {
  for (uint32_t i = 0; i < 2; ++i) {
    b.send(1, {b.elementsOf(x, 0, 4)}, 0);
    b.recv(0, {b.elementsOf(t, 8 + 4 * i, 12 + 4 * i)}, 1);
  }
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Races, readAgainstWrite) {
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"writes t[0..8]", "reads t[0..8]"})) << b.verdict();
}

TEST_F(Races, twoReadersAreNone) {
  b.copy(0, {b.blockOf(t, 0)}, {b.elementsOf(t, 8, 16)}, {requires_(OpId{0})});
  BufferId u = b.temp(0, "u");
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(u, 0)}, {requires_(OpId{0})});
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Races, aLaterWriterWaitsForAllReaders) {
  BufferId u = b.temp(0, "u"), v = b.temp(0, "v");
  OpId first = b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(u, 0)}, {requires_(OpId{0})});
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(v, 0)}, {requires_(OpId{0})});
  b.copy(0, {in(0)}, {b.blockOf(t, 0)}, {requires_(first)});
  EXPECT_TRUE(
      fails(b.verify(), Proof::Races, {"copy t[0..8] to v[0..8]", "copy x[0..8] to t[0..8]"}))
      << b.verdict();
}

TEST_F(Races, irequiresDoesNotOrderData) {
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)}, {irequires(OpId{0})});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"neither waits"})) << b.verdict();
}

TEST_F(Races, orderThroughOtherOpsOfTheRank) {
  OpId wait = b.wait(0, 1, {requires_(OpId{0})});
  b.signal(1, 0);
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)}, {requires_(wait)});
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

/// Rank 0 tells rank 1 that op 0 is done, and goes on when it hears back.
void goThroughRank1(ScheduleBuilder &b, BufferId t, Dep first) {
  b.signal(0, 1, {first});
  OpId heard = b.wait(1, 0);
  b.signal(1, 0, {requires_(heard)});
  OpId back = b.wait(0, 1);
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)}, {requires_(back)});
}

TEST_F(Races, orderThroughAnotherRank) {
  goThroughRank1(b, t, requires_(OpId{0}));
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Races, anotherRankThatDependsOnTheStartAlone) {
  goThroughRank1(b, t, irequires(OpId{0}));
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"neither waits"})) << b.verdict();
}

// The send knows nothing of its receiver; only the deadlock check takes it for synchronous.
TEST_F(Races, aSendDoesNotWaitForItsReceive) {
  OpId send = b.signal(0, 1);
  b.wait(1, 0);
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)}, {requires_(send)});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"neither waits"})) << b.verdict();
}

// Rank 1 posts its receive after op 0, but the send may finish long before.
TEST_F(Races, aSendDoesNotInheritTheWaitsOfItsReceive) {
  b.signal(0, 1, {requires_(OpId{0})});
  OpId send = b.signal(0, 1);
  OpId heard = b.wait(1, 0);
  b.wait(1, 0, {requires_(heard)});
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)}, {requires_(send)});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"neither waits"})) << b.verdict();
}

/// Rank 0 sends a block to rank 1, which replies, into the bytes that it was sent from.
struct Reply : testing::Test {
  Reply() : b(3), x(b.param("x", BufferRole::InOut)), t(b.temp(1, "t")) {
    b.followsData = false;
    b.schedule().hasContract = false;
  }
  void sendAndReply(Deps (*depsOf)(OpId received)) {
    b.send(0, {b.blockOf(x, 0)}, 1);
    reply(depsOf);
    b.recv(0, {b.blockOf(x, 0)}, 1);
  }
  void reply(Deps (*depsOf)(OpId received)) {
    OpId received = b.recv(1, {b.blockOf(t, 0)}, 0);
    b.send(1, {b.blockOf(x, 0)}, 0, depsOf(received));
  }
  static Deps afterIt(OpId received) { return {requires_(received)}; }

  ScheduleBuilder b;
  BufferId x, t;
};

TEST_F(Reply, comesWhenItsRequestWasRead) {
  sendAndReply(afterIt);
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Reply, whoseReceiveIsPostedFirst) {
  b.recv(0, {b.blockOf(x, 0)}, 1);
  b.send(0, {b.blockOf(x, 0)}, 1);
  reply(afterIt);
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Reply, thatMayComeBeforeItsRequestIsRead) {
  sendAndReply([](OpId received) { return Deps{irequires(received)}; });
  EXPECT_TRUE(fails(b.verify(), Proof::Races,
                    {"rank 0's send x[0..8] to 1", "recv x[0..8] from 1", "neither waits"}))
      << b.verdict();
}

// A canary is in the buffer before anything comes.
TEST_F(Reply, withACanary) {
  sendAndReply(afterIt);
  for (Op *op : {&b.schedule().ranks[1].ops[1], &b.schedule().ranks[0].ops[1]}) {
    op->transfer.protocol = Protocol::Static;
    op->transfer.canary = true;
  }
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"send x[0..8]", "recv x[0..8]"})) << b.verdict();
}

TEST_F(Reply, ofOneReceiverSaysNothingOfAnother) {
  BufferId u = b.temp(2, "u");
  b.send(0, {b.blockOf(x, 0)}, 2);
  b.recv(2, {b.blockOf(u, 0)}, 0);
  sendAndReply(afterIt);
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"send x[0..8] to 2", "recv x[0..8] from 1"}))
      << b.verdict();
}

TEST_F(Reply, asASignalBeforeALocalWriter) {
  BufferId y = b.temp(0, "y");
  b.send(0, {b.blockOf(x, 0)}, 1);
  OpId received = b.recv(1, {b.blockOf(t, 0)}, 0);
  b.signal(1, 0, {requires_(received)});
  OpId heard = b.wait(0, 1);
  OpId zero = b.send(2, {b.blockOf(x, 0)}, 0);
  EXPECT_EQ(zero, OpId{0});
  OpId came = b.recv(0, {b.blockOf(y, 0)}, 2);
  b.copy(0, {b.blockOf(y, 0)}, {b.blockOf(x, 0)}, {requires_(heard), requires_(came)});
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Reply, toTheEndOfALocalReader) {
  BufferId y = b.temp(0, "y");
  OpId read = b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  b.signal(0, 1, {requires_(read)});
  b.recv(0, {b.blockOf(x, 0)}, 1);
  OpId heard = b.wait(1, 0);
  b.send(1, {b.blockOf(x, 0)}, 0, {requires_(heard)});
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

// Both ends lie on one rank: its own receive says nothing.
TEST_F(Reply, aMessageOntoItself) {
  b.send(0, {b.blockOf(x, 0)}, 0);
  b.recv(0, {b.blockOf(x, 0)}, 0);
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"send x[0..8] to 0", "neither waits"}))
      << b.verdict();
}

TEST_F(Races, emptyMessagesOrderNothing) {
  b.send(0, {b.elementsOf(x, 0, 0)}, 1, {requires_(OpId{0})});
  BufferId other = b.temp(1, "other");
  OpId heard = b.recv(1, {b.elementsOf(other, 0, 0)}, 0);
  b.signal(1, 0, {requires_(heard)});
  OpId back = b.wait(0, 1);
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 1)}, {requires_(back)});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"neither waits"})) << b.verdict();
}

TEST_F(Races, aListThatWritesAByteTwice) {
  b.send(1, {b.elementsOf(x, 0, 8)}, 0);
  b.recv(0, {b.elementsOf(t, 8, 12), b.elementsOf(t, 11, 15)}, 1);
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"writes t[11..12] twice"})) << b.verdict();
}

TEST_F(Races, aCopyOntoPartOfItself) {
  b.copy(0, {b.elementsOf(t, 0, 4)}, {b.elementsOf(t, 2, 6)}, {requires_(OpId{0})});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"reads t[2..4] and writes it"})) << b.verdict();
}

TEST_F(Races, aCopyThatSwapsTwoSlices) {
  b.copy(0, {b.elementsOf(t, 0, 2), b.elementsOf(t, 2, 4)},
         {b.elementsOf(t, 2, 4), b.elementsOf(t, 0, 2)}, {requires_(OpId{0})});
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"reads", "and writes it"})) << b.verdict();
}

TEST_F(Races, aCopyOntoItselfDoesNothing) {
  b.copy(0, {b.blockOf(t, 0)}, {b.blockOf(t, 0)}, {requires_(OpId{0})});
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST(RacesInPlace, anAliasIsTheSameBytes) {
  ScheduleBuilder b(2);
  b.followsData = false;
  BufferId y = b.param("y", BufferRole::Out, 2);
  BufferId x = b.alias("x", BufferRole::In, [&](uint32_t rank) { return b.blockOf(y, rank); });
  b.send(0, {b.blockOf(x, 0)}, 1);
  b.recv(1, {b.blockOf(y, 1)}, 0);
  b.send(1, {b.blockOf(x, 0)}, 0);
  b.recv(0, {b.blockOf(y, 1)}, 1);
  EXPECT_TRUE(fails(b.verify(), Proof::Races,
                    {"rank 1's recv y[8..16] from 0", "send x[0..8] to 0", "y[8..16]"}))
      << b.verdict();
}

/// Rank 0 sends a block to each of the others, which is announced; each says that it is ready.
struct Announced : testing::Test {
  explicit Announced(uint32_t ranks = 70) : b(ranks) {
    x = b.param("x", BufferRole::In);
    y = b.param("y", BufferRole::Out);
    b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
    for (uint32_t r = 0; r < ranks; ++r)
      b.ensure(r, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  }
  void announce(uint32_t rank, OpId send, OpId recv) {
    for (Op *op :
         {&b.schedule().ranks[0].ops[index(send)], &b.schedule().ranks[rank].ops[index(recv)]}) {
      op->transfer.protocol = Protocol::Static;
      op->transfer.announced = true;
    }
  }
  /// The notice waits for `deps`, the send for the notice if `isAwaited`.
  void sendTo(uint32_t rank, Deps noticeDeps, bool isAwaited) {
    OpId recv = b.recv(rank, {b.blockOf(y, 0)}, 0);
    b.signal(rank, 0, noticeDeps, 1);
    OpId wait = b.wait(0, rank, {}, 1);
    OpId send = b.send(0, {b.blockOf(x, 0)}, rank, isAwaited ? Deps{requires_(wait)} : Deps{});
    announce(rank, send, recv);
  }

  ScheduleBuilder b;
  BufferId x, y;
};

TEST_F(Announced, byNoticesThatFollowTheReceives) {
  for (uint32_t r = 1; r < b.ranks(); ++r)
    sendTo(r, {irequires(OpId{0})}, true);
  EXPECT_TRUE(b.verify().proved()) << b.verdict();
}

TEST_F(Announced, notByANoticeThatMayComeBeforeTheReceive) {
  for (uint32_t r = 1; r < b.ranks(); ++r)
    sendTo(r, r == 69 ? Deps{} : Deps{irequires(OpId{0})}, true);
  VerifyReport report = b.verify();
  EXPECT_EQ(report.failures.size(), 1u);
  EXPECT_TRUE(fails(report, Proof::Races,
                    {"rank 69's recv y[0..8] from 0", "its sender is not told that it has started",
                     "send x[0..8] to 69 may write the bytes before"}))
      << b.verdict();
}

TEST_F(Announced, notByANoticeThatTheSendDoesNotAwait) {
  for (uint32_t r = 1; r < b.ranks(); ++r)
    sendTo(r, {irequires(OpId{0})}, r != 1);
  EXPECT_TRUE(fails(b.verify(), Proof::Races, {"rank 1's recv", "is announced"})) << b.verdict();
}

} // namespace
} // namespace colldsl::test
