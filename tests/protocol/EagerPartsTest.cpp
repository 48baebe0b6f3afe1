// Eager messages of several parts: the receiver stores what the sender has written so far. The
// sender of these tests stops in the middle, as one does that loses its core.
#include "tests/protocol/TwoRanks.h"

#include "transports/shm/FifoReceiver.h"

#include <thread>

namespace colldsl::test {
namespace {

using namespace protocol;

constexpr uint64_t kBytes = 3 * shm::kEagerPartBytes - 24;

/// Notes how often each byte is combined.
struct Counted final : CombiningTarget {
  Counted() : times(kBytes) { elementBytes = 8; }
  void combine(uint64_t offset, const std::byte *, uint64_t bytes) override {
    for (uint64_t i = offset; i < offset + bytes; ++i)
      ++times[i];
  }
  std::vector<int> times;
};

class EagerParts : public TwoRanks {
protected:
  void SetUp() override { make(); }

  // What has been written of the last message to rank 1.
  std::atomic<uint32_t> &written() {
    uint64_t offset = world_->control(Rank{1}).connectRequests.load();
    auto *slots =
        reinterpret_cast<shm::Slot *>(reinterpret_cast<shm::FifoHeader *>(world_->at(offset)) + 1);
    uint32_t last = there_->sendsTo(Rank{1})->wire().numSlots() - 1;
    return slots[last % shm::kSlots].body.ring.written;
  }

  void send(Bytes &from, uint32_t number) {
    describe(from.message, number, sent_);
    there_->sendsTo(Rank{1})->send(from.message);
    EXPECT_EQ(sent_.outstanding, 0u);
  }
  void describe(Request &message, uint32_t number, CompletionCounter &counter) {
    message.tag = {1, 1, 0, number};
    message.counter = &counter;
    message.protocol = Protocol::Eager;
  }
  LocalReceives &receives() { return here_->receivesFrom(Rank{0}); }

  Bytes from_{kBytes, 1, 1}, to_{kBytes, 1, 0};
};

TEST_F(EagerParts, aReceiveTakesWhatIsThereAndWaitsForTheRest) {
  describe(to_.message, 1, received_);
  receives().recv(to_.message);
  send(from_, 1);
  EXPECT_EQ(written(), kBytes);
  for (uint32_t parts : {1u, 2u}) {
    written() = parts * shm::kEagerPartBytes;
    here_->progress();
    EXPECT_EQ(received_.outstanding, 1u);
    auto all = from_.packed(), some = to_.packed();
    auto end = static_cast<std::ptrdiff_t>(written().load());
    EXPECT_TRUE(std::equal(all.begin(), all.begin() + end, some.begin()));
    EXPECT_NE(all, some);
  }
  written() = kBytes;
  here_->progress();
  EXPECT_EQ(received_.outstanding, 0u);
  EXPECT_EQ(from_, to_);
}

TEST_F(EagerParts, aReceiveThatDoesNotWaitTakesAllOrNothing) {
  send(from_, 1);
  describe(to_.message, 1, received_);
  ASSERT_TRUE(receives().isIdle() || !receives().tryRecv(to_.message)); // connects
  here_->progress();
  Bytes next(kBytes, 1, 7), got(kBytes, 1, 0);
  send(next, 2);
  describe(got.message, 2, received_);
  written() = shm::kEagerPartBytes;
  EXPECT_FALSE(receives().tryRecv(got.message));
  written() = kBytes;
  EXPECT_TRUE(receives().tryRecv(got.message));
  EXPECT_EQ(next, got);
}

TEST_F(EagerParts, EachElementIsCombinedOnce) {
  Counted target;
  describe(to_.message, 1, received_);
  ASSERT_TRUE(receives().mayCombine(to_.message.payload, target));
  to_.message.combining = &target;
  receives().recv(to_.message);
  send(from_, 1);
  for (uint64_t now :
       {uint64_t{shm::kEagerPartBytes}, 2 * uint64_t{shm::kEagerPartBytes}, kBytes}) {
    written() = static_cast<uint32_t>(now);
    here_->progress();
    for (uint64_t i = 0; i < kBytes; ++i)
      ASSERT_EQ(target.times[i], i < now) << i;
  }
  EXPECT_EQ(received_.outstanding, 0u);
}

TEST_F(EagerParts, OfLargerElementsNoneIsCombinedAsItComes) {
  Counted target;
  target.elementBytes = 24;
  EXPECT_FALSE(receives().mayCombine(to_.message.payload, target));
  target.elementBytes = 2 * shm::kEagerPartBytes;
  EXPECT_FALSE(receives().mayCombine(to_.message.payload, target));
}

// The message is not kept before all of it is here, so that a cancelled receive leaves it whole.
TEST_F(EagerParts, AReceiveMayBeCancelledInTheMiddle) {
  describe(to_.message, 1, received_);
  receives().recv(to_.message);
  send(from_, 1);
  written() = shm::kEagerPartBytes;
  here_->progress();
  here_->cancel(received_);
  received_.outstanding = 0;
  here_->progress();
  EXPECT_EQ(receives().findUnexpected({1, 1, 0, 1}), std::nullopt);
  written() = kBytes;
  here_->progress();
  EXPECT_EQ(receives().findUnexpected({1, 1, 0, 1}), kBytes);
  Bytes again(kBytes, 1, 0);
  describe(again.message, 1, received_);
  receives().recv(again.message);
  EXPECT_EQ(received_.outstanding, 0u);
  EXPECT_EQ(from_, again);
}

TEST_F(EagerParts, AMessageOfAnotherLengthIsOneWhenItIsWhole) {
  Bytes shorter(kBytes - 8, 1, 0);
  describe(shorter.message, 1, received_);
  receives().recv(shorter.message);
  send(from_, 1);
  written() = shm::kEagerPartBytes;
  here_->progress();
  EXPECT_EQ(received_.mismatched, nullptr);
  written() = kBytes;
  here_->progress();
  EXPECT_EQ(received_.mismatched, &shorter.message);
  EXPECT_EQ(shorter.message.transferred, kBytes);
}

// A waiting rank sleeps between parts: the last one wakes it.
TEST_F(EagerParts, EachPartIsReadWhileTheNextIsWritten) {
  constexpr uint32_t kMessages = 2000;
  std::vector<uint8_t> wrong;
  std::thread receiver([&] {
    for (uint32_t m = 0; m < kMessages; ++m) {
      Bytes to(kBytes, 1 + m % 3, 0), expected(kBytes, 1 + (m + 1) % 3, static_cast<uint8_t>(m));
      CompletionCounter counter;
      describe(to.message, m, counter);
      receives().recv(to.message);
      if (!here_->wait(counter) || !(to == expected))
        wrong.push_back(static_cast<uint8_t>(m));
    }
  });
  for (uint32_t m = 0; m < kMessages; ++m) {
    Bytes from(kBytes, 1 + (m + 1) % 3, static_cast<uint8_t>(m));
    CompletionCounter counter;
    describe(from.message, m, counter);
    there_->sendsTo(Rank{1})->send(from.message);
    EXPECT_TRUE(there_->wait(counter));
  }
  receiver.join();
  EXPECT_TRUE(wrong.empty()) << wrong.size();
}

} // namespace
} // namespace colldsl::test
