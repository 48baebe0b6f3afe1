// Messages between ranks of a node that one end cancels: no byte of them moves any more, in any
// state of the other end, and nothing of them is kept. One thread is both ranks, so that it orders
// their steps; where an end must wait for the other one there are two.
#include "protocol/local/LocalWorker.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace colldsl::test {
namespace {

using namespace protocol;
using namespace std::chrono_literals;

constexpr uint64_t kBytes = 300000;
constexpr uint8_t kSent = 1, kReused = 2, kUntouched = 3;

/// A message in one piece, in memory of its own or in that which ranks share.
class Buffer {
public:
  Buffer(LocalWorker &worker, bool isShared, uint8_t value, CompletionCounter &counter,
         uint32_t number = 0)
      : worker_(worker), shared_(isShared ? worker.allocate(kBytes) : nullptr),
        own_(isShared ? 0 : kBytes), piece_{isShared ? shared_ : own_.data(), kBytes} {
    fill(value);
    message.tag = {1, 1, 0, number};
    message.payload = {&piece_, 1, false, false, kBytes};
    message.counter = &counter;
  }
  ~Buffer() {
    if (shared_)
      worker_.release(shared_);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void fill(uint8_t value) { std::memset(piece_.iov_base, value, kBytes); }
  bool isAll(uint8_t value) const {
    auto *bytes = static_cast<const uint8_t *>(piece_.iov_base);
    return std::all_of(bytes, bytes + kBytes, [&](uint8_t byte) { return byte == value; });
  }

  Request message;

private:
  LocalWorker &worker_;
  void *shared_;
  std::vector<uint8_t> own_;
  iovec piece_;
};

/// How a message travels.
struct Way {
  const char *name;
  bool isSentShared = false, isReceivedShared = false;
  shm::SingleCopy singleCopy = shm::SingleCopy::On;
  Mover mover = Mover::Either;
};
void PrintTo(const Way &way, std::ostream *out) { *out << way.name; }

struct Pair {
  explicit Pair(shm::SingleCopy singleCopy) {
    shm::Options options;
    options.singleCopy = singleCopy;
    world = shm::World::create(2, options).take();
    for (uint32_t r : {0u, 1u})
      world->control(Rank{r}).pid.store(getpid());
    there = std::make_unique<LocalWorker>(*world, Rank{0});
    here = std::make_unique<LocalWorker>(*world, Rank{1});
  }
  void send(Buffer &from) { there->sendsTo(Rank{1})->send(from.message); }
  void receive(Buffer &to) { here->receivesFrom(Rank{0}).recv(to.message); }
  void pollBoth(int times = 50) {
    for (int i = 0; i < times; ++i) {
      there->progress();
      here->progress();
    }
  }
  /// Another message gets through.
  void expectOthersWork() {
    CompletionCounter sent, received;
    Buffer from(*there, false, kSent, sent, 99), to(*here, false, kUntouched, received, 99);
    send(from);
    receive(to);
    pollBoth();
    EXPECT_EQ(sent.outstanding + received.outstanding, 0u);
    EXPECT_TRUE(to.isAll(kSent));
    there->cancel(sent);
    here->cancel(received);
  }

  std::unique_ptr<shm::World> world;
  std::unique_ptr<LocalWorker> there, here;
};

class Cancel : public ::testing::TestWithParam<Way> {
protected:
  /// The sender cancels after so many steps; then it uses its memory for something else. A receive
  /// that was not over by then never ends, and gets none of that.
  void cancelAfter(int steps) {
    SCOPED_TRACE(steps);
    const Way &way = GetParam();
    Pair pair(way.singleCopy);
    CompletionCounter sent, received;
    Buffer from(*pair.there, way.isSentShared, kSent, sent);
    Buffer to(*pair.here, way.isReceivedShared, kUntouched, received);
    from.message.mover = to.message.mover = way.mover;
    bool isPosted = false;
    for (int step = 0; step < steps; ++step)
      switch (step) {
      case 0:
        pair.send(from);
        break;
      case 1:
        pair.here->progress();
        break;
      case 2:
        pair.receive(to);
        isPosted = true;
        break;
      default:
        (step % 2 == 0 ? pair.here : pair.there)->progress();
      }
    pair.there->cancel(sent);
    from.fill(kReused);
    if (!isPosted)
      pair.receive(to);
    pair.pollBoth();
    if (received.outstanding == 0) {
      EXPECT_TRUE(to.isAll(kSent));
    } else {
      pair.here->cancel(received);
    }
    pair.expectOthersWork();
  }
};

TEST_P(Cancel, theSenderAtAnyStep) {
  for (int steps = 0; steps < 24; ++steps)
    cancelAfter(steps);
}

// Else the test would prove nothing.
TEST_P(Cancel, aMessageThatIsNotCancelledArrives) {
  const Way &way = GetParam();
  Pair pair(way.singleCopy);
  CompletionCounter sent, received;
  Buffer from(*pair.there, way.isSentShared, kSent, sent);
  Buffer to(*pair.here, way.isReceivedShared, kUntouched, received);
  from.message.mover = to.message.mover = way.mover;
  pair.send(from);
  pair.receive(to);
  pair.pollBoth();
  EXPECT_EQ(sent.outstanding + received.outstanding, 0u);
  EXPECT_TRUE(to.isAll(kSent));
}

// More messages than a FIFO has ids; their receiver is elsewhere, or waits for the rest of each.
TEST_P(Cancel, idsAreUsedAgain) {
  constexpr uint32_t kMany = 70000;
  const Way &way = GetParam();
  Pair pair(way.singleCopy);
  CompletionCounter sent, received;
  Buffer from(*pair.there, way.isSentShared, kSent, sent);
  Buffer to(*pair.here, way.isReceivedShared, kUntouched, received);
  from.message.mover = to.message.mover = Mover::Writer; // the receiver copies none of it
  for (uint32_t i = 0; i < kMany; ++i) {
    from.message.tag.message = to.message.tag.message = 100 + i;
    if (i % 2 == 0)
      pair.receive(to);
    pair.send(from);
    pair.here->progress();
    pair.there->cancel(sent);
    pair.here->progress();
    if (i % 2 == 0)
      pair.here->cancel(received);
    sent = received = {};
  }
  pair.expectOthersWork();
}

INSTANTIATE_TEST_SUITE_P(Ways, Cancel,
                         ::testing::Values(Way{"kernel"}, Way{"sentFromSharedMemory", true},
                                           Way{"receivedInSharedMemory", false, true},
                                           Way{"fragments", false, false, shm::SingleCopy::Off},
                                           Way{"written", false, false, shm::SingleCopy::On,
                                               Mover::Writer}),
                         [](const auto &info) { return std::string(info.param.name); });

/// Holds the receiver up in the middle of a copy.
struct SlowTarget : CombiningTarget {
  std::atomic<bool> isCopying = false, mayGoOn = false;
  std::atomic<uint64_t> wrong = 0;
  void combine(uint64_t, const std::byte *from, uint64_t bytes) override {
    isCopying = true;
    while (!mayGoOn)
      std::this_thread::yield();
    for (uint64_t i = 0; i < bytes; ++i)
      wrong += from[i] != std::byte{kSent};
  }
};

class CancelWhileCopying : public ::testing::Test {
protected:
  CancelWhileCopying() {
    to_.message.combining = &target_;
    pair_.send(from_);
    pair_.here->progress();
    receiver_ = std::thread([&] { pair_.receive(to_); });
    while (!target_.isCopying)
      std::this_thread::yield();
  }
  void TearDown() override {
    target_.mayGoOn = true;
    receiver_.join();
  }

  Pair pair_{shm::SingleCopy::On};
  CompletionCounter sent_, received_;
  Buffer from_{*pair_.there, true, kSent, sent_};
  Buffer to_{*pair_.here, false, kUntouched, received_};
  SlowTarget target_;
  std::thread receiver_;
};

// A sender that cancels in the middle of a copy has its memory back when the copy is over.
TEST_F(CancelWhileCopying, theSenderWaitsForTheEndOfTheCopy) {
  std::atomic<bool> isCancelled = false;
  std::thread sender([&] {
    pair_.there->cancel(sent_);
    isCancelled = true;
    from_.fill(kReused);
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(isCancelled);
  target_.mayGoOn = true;
  sender.join();
  EXPECT_EQ(target_.wrong, 0u);
}

TEST_F(CancelWhileCopying, aDeadReceiverIsNotAwaited) {
  pair_.world->reportDeath(Rank{1});
  pair_.there->cancel(sent_);
  EXPECT_FALSE(pair_.there->sendsTo(Rank{1})->isBusy());
}

} // namespace
} // namespace colldsl::test
