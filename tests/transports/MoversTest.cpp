// Who moves a long message on a lane. One thread is both ranks, so that it decides who does the
// next step.
#include "transports/lanes/Lanes.h"

#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace lanes;

constexpr uint64_t kLongBytes = 300000;

/// A message of `count` equal pieces with gaps between them.
class Bytes {
public:
  Bytes(uint64_t bytes, uint32_t count, uint8_t first) : data_(bytes + count) {
    std::iota(data_.begin(), data_.end(), first);
    uint64_t piece = bytes / count;
    for (uint32_t i = 0; i < count; ++i)
      pieces_.push_back({&data_[i * (piece + 1)], i + 1 < count ? piece : bytes - i * piece});
    message.payload = {pieces_.data(), count, false, false, bytes};
  }
  Bytes(const Bytes &) = delete;

  std::vector<uint8_t> packed() const {
    std::vector<uint8_t> all;
    for (const iovec &piece : pieces_) {
      auto *begin = static_cast<const uint8_t *>(piece.iov_base);
      all.insert(all.end(), begin, begin + piece.iov_len);
    }
    return all;
  }
  bool operator==(const Bytes &other) const { return packed() == other.packed(); }

  Message message;

private:
  std::vector<uint8_t> data_;
  std::vector<iovec> pieces_;
};

class Movers : public ::testing::Test {
protected:
  void make(shm::SingleCopy singleCopy = shm::SingleCopy::On) {
    there_.reset(); // before their world
    here_.reset();
    shm::Options options;
    options.singleCopy = singleCopy;
    auto made = shm::World::create(2, options);
    ASSERT_TRUE(made.ok()) << made.message();
    world_ = made.take();
    for (uint32_t r : {0u, 1u})
      world_->control(Rank{r}).pid.store(getpid());
    lanes::Options ofLanes;
    ofLanes.singleCopyMinBytes = 1 << 10; // also of 200 pieces
    there_ = std::make_unique<Lanes>(*world_, Rank{0}, ofLanes);
    here_ = std::make_unique<Lanes>(*world_, Rank{1}, ofLanes);
  }

  // Both ends of message `number`.
  void post(Bytes &from, Bytes &to, Mover mover, uint32_t number = 0) {
    for (Bytes *end : {&from, &to}) {
      end->message.key = {1, 1, 0, number};
      end->message.mover = mover;
    }
    from.message.tally = &sent_;
    to.message.tally = &received_;
    there_->sender(Rank{1})->post(from.message);
    here_->receiver(Rank{0}).post(to.message);
  }

  void finish() {
    for (int i = 0; i < 1000 && (sent_.open != 0 || received_.open != 0); ++i) {
      there_->poll();
      here_->poll();
    }
    EXPECT_EQ(sent_.open, 0u);
    EXPECT_EQ(received_.open, 0u);
  }

  std::unique_ptr<shm::World> world_;
  std::unique_ptr<Lanes> there_, here_;
  Tally sent_, received_;
};

TEST_F(Movers, theOneThatIsAskedForMoves) {
  for (uint32_t pieces : {1u, 3u, 200u}) {
    make();
    Bytes from(kLongBytes, pieces, 1), read(kLongBytes, 7, 0), written(kLongBytes, 7, 0);
    post(from, read, Mover::Reader);
    here_->poll();
    EXPECT_EQ(from, read) << pieces;
    finish();
    post(from, written, Mover::Writer);
    here_->poll();
    EXPECT_NE(from, written) << pieces;
    there_->poll();
    EXPECT_EQ(from, written) << pieces;
    EXPECT_EQ(sent_.open, 0u);
    EXPECT_EQ(received_.open, 1u);
    here_->poll();
    EXPECT_EQ(received_.open, 0u);
    EXPECT_EQ(written.message.moved, kLongBytes);
  }
}

TEST_F(Movers, elseTheSenderIfItHasMuchLessToMove) {
  for (uint32_t load : {99u, 100u, 200u}) {
    make();
    sent_.loadKiB = load;
    received_.loadKiB = 164;
    Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
    post(from, to, Mover::Either);
    here_->poll();
    EXPECT_EQ(from == to, load >= 100) << load;
    finish();
    EXPECT_EQ(from, to);
  }
}

TEST_F(Movers, nobodyWaitsForASenderWhoIsElsewhere) {
  make();
  Bytes from(kLongBytes, 2, 1), to(kLongBytes, 3, 0);
  post(from, to, Mover::Writer);
  for (int i = 0; i < 1000 && received_.open != 0; ++i)
    here_->poll();
  EXPECT_EQ(received_.open, 0u);
  EXPECT_EQ(from, to);
  EXPECT_EQ(sent_.open, 1u);
  finish();
}

TEST_F(Movers, memoryOfAReceiveThatWasGivenUpIsLeftAlone) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0), untouched(kLongBytes, 1, 0);
  post(from, to, Mover::Writer);
  here_->poll();
  here_->forget(received_);
  received_ = {};
  finish();
  EXPECT_EQ(to, untouched);
}

TEST_F(Movers, moreMessagesThanTicketsAndLines) {
  make();
  constexpr uint32_t kMessages = 600;
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  std::vector<Message> sends(kMessages, from.message), receives(kMessages, to.message);
  for (uint32_t m = 0; m < kMessages; ++m) {
    for (Message *end : {&sends[m], &receives[m]}) {
      end->key = {1, 1, 0, m};
      end->mover = Mover::Writer;
    }
    sends[m].tally = &sent_;
    receives[m].tally = &received_;
    there_->sender(Rank{1})->post(sends[m]);
    here_->receiver(Rank{0}).post(receives[m]);
  }
  finish();
  EXPECT_EQ(from, to);
}

// What was written can be told only where there is a line for it.
TEST_F(Movers, aFullLaneWaits) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes, 1, 0);
  post(from, to, Mover::Writer);
  here_->poll();
  uint8_t byte = 7;
  iovec piece{&byte, 1};
  std::vector<Message> sends(kLines), receives(kLines);
  for (uint32_t m = 0; m < kLines; ++m) {
    for (Message *end : {&sends[m], &receives[m]}) {
      end->key = {1, 1, 0, m + 1};
      end->payload = {&piece, 1, false, false, 1};
    }
    sends[m].tally = &sent_;
    receives[m].tally = &received_;
    there_->sender(Rank{1})->post(sends[m]);
  }
  there_->poll();
  EXPECT_NE(from, to);
  for (Message &message : receives)
    here_->receiver(Rank{0}).post(message);
  finish();
  EXPECT_EQ(from, to);
}

TEST_F(Movers, lengthsThatDifferAreFound) {
  make();
  Bytes from(kLongBytes, 1, 1), to(kLongBytes - 1, 1, 0);
  post(from, to, Mover::Writer);
  finish();
  EXPECT_EQ(received_.mismatched, &to.message);
  EXPECT_EQ(to.message.moved, kLongBytes);
}

TEST_F(Movers, whereTheKernelForbidsItMessagesStream) {
  make(shm::SingleCopy::Off);
  Bytes from(kLongBytes, 3, 1), to(kLongBytes, 2, 0);
  post(from, to, Mover::Writer);
  here_->poll();
  there_->poll();
  EXPECT_NE(from, to);
  finish();
  EXPECT_EQ(from, to);
}

// Of any length beyond eager ones, and without the kernel.
TEST_F(Movers, whatIsSharedAtTheReceiverIsWrittenPlainly) {
  make(shm::SingleCopy::Off);
  constexpr uint64_t kBytes = 20000;
  Bytes from(kBytes, 3, 1), to(kBytes, 1, 0);
  iovec shared{here_->allocate(kBytes), kBytes};
  to.message.payload.pieces = &shared;
  post(from, to, Mover::Either);
  here_->poll();
  there_->poll();
  EXPECT_EQ(std::memcmp(shared.iov_base, from.packed().data(), kBytes), 0);
  EXPECT_EQ(sent_.open, 0u);
  finish();
}

TEST_F(Movers, protocolsDecideWhoWaits) {
  make();
  auto isSentAtOnce = [&](uint64_t bytes, Protocol protocol, uint32_t number) {
    Bytes from(bytes, 1, 1), to(bytes, 1, 0);
    from.message.protocol = to.message.protocol = protocol;
    from.message.key = to.message.key = {1, 1, 0, number};
    from.message.tally = &sent_;
    to.message.tally = &received_;
    there_->sender(Rank{1})->post(from.message);
    bool atOnce = sent_.open == 0;
    here_->receiver(Rank{0}).post(to.message);
    finish();
    EXPECT_EQ(from, to) << bytes;
    return atOnce;
  };
  Options options;
  uint32_t number = 0;
  for (int turn = 0; turn < 5; ++turn) { // round the ring
    EXPECT_TRUE(isSentAtOnce(options.eagerBytes, Protocol::Any, ++number));
    EXPECT_FALSE(isSentAtOnce(options.eagerBytes + 1, Protocol::Any, ++number));
    EXPECT_TRUE(isSentAtOnce(options.ringBytes / 2, Protocol::Eager, ++number));
    EXPECT_FALSE(isSentAtOnce(options.ringBytes / 2 + 1, Protocol::Eager, ++number));
    EXPECT_TRUE(isSentAtOnce(kInlineBytes, Protocol::Rendezvous, ++number));
    EXPECT_FALSE(isSentAtOnce(kInlineBytes + 1, Protocol::Rendezvous, ++number));
  }
}

} // namespace
} // namespace colldsl::test
