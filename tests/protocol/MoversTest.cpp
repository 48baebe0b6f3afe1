// The end that moves a long message between ranks of a node.
#include "tests/protocol/TwoRanks.h"

#include <cstring>

namespace colldsl::test {
namespace {

using namespace protocol;

class Movers : public TwoRanks {};

TEST_F(Movers, theRequestedEndMoves) {
  for (uint32_t pieces : {1u, 3u, 200u}) {
    make();
    Bytes from(kLongBytes, pieces, 1), read(kLongBytes, 7, 0), written(kLongBytes, 7, 0);
    post(from, read, Mover::Reader);
    here_->progress();
    EXPECT_EQ(from, read) << pieces;
    finish();
    post(from, written, Mover::Writer);
    here_->progress();
    EXPECT_NE(from, written) << pieces;
    there_->progress();
    EXPECT_EQ(from, written) << pieces;
    EXPECT_EQ(sent_.outstanding, 0u);
    EXPECT_EQ(received_.outstanding, 1u);
    here_->progress();
    EXPECT_EQ(received_.outstanding, 0u);
    EXPECT_EQ(written.message.transferred, kLongBytes);
  }
}

TEST_F(Movers, elseTheSenderIfItHasMuchLessToMove) {
  for (uint32_t load : {99u, 100u, 200u}) {
    make();
    sent_.copyKiB = load;
    received_.copyKiB = 164;
    Bytes from(kLongBytes, 2, 1), to(kLongBytes, 1, 0);
    post(from, to, Mover::Either);
    here_->progress();
    EXPECT_EQ(from == to, load >= 100) << load;
    finish();
    EXPECT_EQ(from, to);
  }
}

TEST_F(Movers, aSenderThatIsElsewhereIsNotAwaited) {
  make();
  Bytes from(kLongBytes, 2, 1), to(kLongBytes, 3, 0);
  post(from, to, Mover::Writer);
  for (int i = 0; i < 1000 && received_.outstanding != 0; ++i)
    here_->progress();
  EXPECT_EQ(received_.outstanding, 0u);
  EXPECT_EQ(from, to);
  EXPECT_EQ(sent_.outstanding, 1u);
  finish();
}

TEST_F(Movers, memoryOfACancelledReceiveIsLeftAlone) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0), untouched(kLongBytes, 1, 0);
  post(from, to, Mover::Writer);
  here_->progress();
  here_->cancel(received_);
  received_ = {};
  finish();
  EXPECT_EQ(to, untouched);
}

TEST_F(Movers, moreMessagesThanRtrsAndLines) {
  make();
  constexpr uint32_t kMessages = 600;
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  std::vector<Request> sends(kMessages, from.message), receives(kMessages, to.message);
  for (uint32_t m = 0; m < kMessages; ++m) {
    for (Request *end : {&sends[m], &receives[m]}) {
      end->tag = {1, 1, 0, m};
      end->mover = Mover::Writer;
    }
    sends[m].counter = &sent_;
    receives[m].counter = &received_;
    there_->sendsTo(Rank{1})->send(sends[m]);
    here_->receivesFrom(Rank{0}).recv(receives[m]);
  }
  finish();
  EXPECT_EQ(from, to);
}

// The end of a write can be sent only where there is a slot for it.
TEST_F(Movers, aFullFifoWaits) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  post(from, to, Mover::Writer);
  here_->progress();
  uint8_t byte = 7;
  iovec piece{&byte, 1};
  std::vector<Request> sends(shm::kSlots), receives(shm::kSlots);
  for (uint32_t m = 0; m < shm::kSlots; ++m) {
    for (Request *end : {&sends[m], &receives[m]}) {
      end->tag = {1, 1, 0, m + 1};
      end->payload = {&piece, 1, false, false, 1};
    }
    sends[m].counter = &sent_;
    receives[m].counter = &received_;
    there_->sendsTo(Rank{1})->send(sends[m]);
  }
  there_->progress();
  EXPECT_NE(from, to);
  for (Request &message : receives)
    here_->receivesFrom(Rank{0}).recv(message);
  finish();
  EXPECT_EQ(from, to);
}

TEST_F(Movers, lengthsThatDifferAreFound) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes - 1, 1, 0);
  post(from, to, Mover::Writer);
  finish();
  EXPECT_EQ(received_.mismatched, &to.message);
  EXPECT_EQ(to.message.transferred, kLongBytes);
}

TEST_F(Movers, whereTheKernelForbidsItMessagesStream) {
  make(shm::SingleCopy::Off);
  Bytes from(kLongBytes, 3, 1), to(kLongBytes, 2, 0);
  post(from, to, Mover::Writer);
  here_->progress();
  there_->progress();
  EXPECT_NE(from, to);
  finish();
  EXPECT_EQ(from, to);
}

// Of any length beyond eager ones, and without the kernel.
TEST_F(Movers, sharedMemoryOfTheReceiverIsWrittenPlainly) {
  make(shm::SingleCopy::Off);
  constexpr uint64_t kBytes = 20000;
  Bytes from(kBytes, 3, 1), to(kBytes, 1, 0);
  iovec shared{here_->allocate(kBytes), kBytes};
  to.message.payload.pieces = &shared;
  post(from, to, Mover::Either);
  here_->progress();
  there_->progress();
  EXPECT_EQ(std::memcmp(shared.iov_base, from.packed().data(), kBytes), 0);
  EXPECT_EQ(sent_.outstanding, 0u);
  finish();
}

TEST_F(Movers, protocolsDecideWhichEndWaits) {
  make();
  auto isSentAtOnce = [&](uint64_t bytes, Protocol protocol, uint32_t number) {
    Bytes from(bytes, 1, 1), to(bytes, 1, 0);
    from.message.protocol = to.message.protocol = protocol;
    from.message.tag = to.message.tag = {1, 1, 0, number};
    from.message.counter = &sent_;
    to.message.counter = &received_;
    there_->sendsTo(Rank{1})->send(from.message);
    bool atOnce = sent_.outstanding == 0;
    here_->receivesFrom(Rank{0}).recv(to.message);
    finish();
    EXPECT_EQ(from, to) << bytes;
    return atOnce;
  };
  const LocalOptions options = here_->options();
  uint32_t number = 0;
  for (int turn = 0; turn < 5; ++turn) { // round the ring
    EXPECT_TRUE(isSentAtOnce(options.rendezvousThresholdBytes, Protocol::Any, ++number));
    EXPECT_FALSE(isSentAtOnce(options.rendezvousThresholdBytes + 1, Protocol::Any, ++number));
    EXPECT_TRUE(isSentAtOnce(options.fifo.ringBytes / 2, Protocol::Eager, ++number));
    EXPECT_FALSE(isSentAtOnce(options.fifo.ringBytes / 2 + 1, Protocol::Eager, ++number));
    EXPECT_TRUE(isSentAtOnce(shm::kSlotInlineBytes, Protocol::Rendezvous, ++number));
    EXPECT_FALSE(isSentAtOnce(shm::kSlotInlineBytes + 1, Protocol::Rendezvous, ++number));
  }
}

} // namespace
} // namespace colldsl::test
