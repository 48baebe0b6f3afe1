// The ends that copy the messages of an exchange, and how often the bytes are copied.
#include "executor/Exchange.h"
#include "tests/protocol/TwoRanks.h"
#include "transports/CooperativeCopy.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <cstring>

namespace colldsl {
namespace {

constexpr auto kMoves = [](const void *) { return false; };

class ExchangeCopies : public test::TwoRanks {
protected:
  void SetUp() override { make(); }

  /// Sends `out` in shared memory, then the same from memory of the rank's own. Returns true for
  /// each if the sender was done before the receiver began.
  std::pair<bool, bool> isDoneEarly(const std::vector<std::byte> &out) {
    auto *shared = static_cast<std::byte *>(there_->allocate(out.size()));
    std::vector<std::byte> own = out, in(out.size());
    std::memcpy(shared, out.data(), out.size());
    std::pair<bool, bool> isDone;
    {
      Exchange sender(*there_, 1, 1), receiver(*here_, 1, 1);
      iovec from{shared, out.size()}, to{in.data(), in.size()};
      sender.send(Rank{1}, {&from, 1});
      receiver.recv(Rank{0}, {&to, 1});
      EXPECT_TRUE(sender.seal() && receiver.seal());
      isDone.first = runsAhead(sender, receiver, 1);
      EXPECT_EQ(in, out);
      std::fill(in.begin(), in.end(), std::byte{});
      sender.shift(own.data() - shared, 0, kMoves);
      isDone.second = runsAhead(sender, receiver, 2);
      EXPECT_EQ(in, out);
    }
    there_->release(shared);
    return isDone;
  }

  bool runsAhead(Exchange &sender, Exchange &receiver, uint32_t run) {
    sender.start(run);
    there_->progress();
    bool isDone = sender.isDone();
    receiver.start(run);
    finishBoth(sender, receiver);
    return isDone;
  }

  void finishBoth(Exchange &one, Exchange &other) {
    for (int i = 0; i < 1000 && !(one.isDone() && other.isDone()); ++i) {
      there_->progress();
      here_->progress();
    }
    EXPECT_TRUE(one.isDone() && other.isDone());
    EXPECT_TRUE(one.finish() && other.finish());
  }

  static std::vector<std::byte> someBytes(size_t bytes) {
    std::vector<std::byte> some(bytes);
    for (size_t i = 0; i < bytes; ++i)
      some[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
    return some;
  }
};

using Early = std::pair<bool, bool>;

// The receiver copies out of the sender's memory, which the sender waits for.
TEST_F(ExchangeCopies, OfSharedMemoryThereIsOne) {
  make(shm::SingleCopy::Off);
  const uint32_t slots = there_->options().fifo.slotsBytes;
  EXPECT_EQ(isDoneEarly(someBytes(slots)), Early(true, true));
  EXPECT_EQ(isDoneEarly(someBytes(slots + 1)), Early(false, true));
}

TEST_F(ExchangeCopies, OfRanksThatShareCoresShortMessagesAreEager) {
  make(shm::SingleCopy::Off, shm::numCores() + 1);
  EXPECT_EQ(isDoneEarly(someBytes(there_->options().fifo.slotsBytes + 1)), Early(true, true));
  EXPECT_FALSE(isDoneEarly(someBytes(16 << 10)).first);
}

// The receiver has more to copy, and waits for the sender to begin.
TEST_F(ExchangeCopies, ASenderThatReceivesNothingTakesPart) {
  const std::vector<std::byte> out = someBytes(test::kLongBytes), word = someBytes(8);
  for (bool receives : {false, true}) {
    std::vector<std::byte> from = out, in(out.size()), back = word, got(word.size());
    std::vector<std::byte> own(10 * out.size()), copied(own.size());
    Exchange sender(*there_, 1, 1 + receives), receiver(*here_, 1, 1 + receives);
    iovec sent{from.data(), from.size()}, received{in.data(), in.size()};
    iovec answer{back.data(), back.size()}, answered{got.data(), got.size()};
    iovec source{own.data(), own.size()}, target{copied.data(), copied.size()};
    sender.send(Rank{1}, {&sent, 1});
    receiver.recv(Rank{0}, {&received, 1});
    receiver.copy({&target, 1}, {&source, 1});
    if (receives) {
      receiver.send(Rank{0}, {&answer, 1});
      sender.recv(Rank{1}, {&answered, 1});
    }
    ASSERT_TRUE(sender.seal() && receiver.seal());
    sender.start(1);
    receiver.start(1);
    for (int i = 0; i < 2; ++i)
      here_->progress();
    size_t numEqual = std::mismatch(in.begin(), in.end(), out.begin()).first - in.begin();
    EXPECT_EQ(numEqual, receives ? 0 : 3 * cooperative::kUsualPartBytes);
    finishBoth(sender, receiver);
    EXPECT_EQ(in, out);
    EXPECT_EQ(got, receives ? word : std::vector<std::byte>(word.size()));
  }
}

} // namespace
} // namespace colldsl
