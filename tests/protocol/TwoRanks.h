/// Two ranks that exchange long messages of one process. One thread is both ranks, so that it
/// orders their steps.
#pragma once

#include "protocol/local/LocalWorker.h"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <unistd.h>
#include <vector>

namespace colldsl::test {

inline constexpr uint64_t kLongBytes = 300000;

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

  protocol::Request message;

private:
  std::vector<uint8_t> data_;
  std::vector<iovec> pieces_;
};

class TwoRanks : public ::testing::Test {
protected:
  /// Each has a core of its own if they are as many.
  void make(shm::SingleCopy singleCopy = shm::SingleCopy::On, uint32_t ranksOnMachine = 1) {
    there_.reset(); // before their world
    here_.reset();
    shm::Options options;
    options.singleCopy = singleCopy;
    options.ranksOnMachine = ranksOnMachine;
    auto made = shm::World::create(2, options);
    ASSERT_TRUE(made.ok()) << made.message();
    world_ = made.take();
    for (uint32_t r : {0u, 1u})
      world_->control(Rank{r}).pid.store(getpid());
    protocol::LocalOptions copying;
    copying.singleCopyMinBytes = 1 << 10; // also of 200 pieces
    copying.rendezvousThresholdBytes = 8 << 10;
    copying.cooperativeCombineMinBytes = copying.cooperativeMinBytes;
    there_ = std::make_unique<protocol::LocalWorker>(*world_, Rank{0}, copying);
    here_ = std::make_unique<protocol::LocalWorker>(*world_, Rank{1}, copying);
  }

  // Both ends of message `number`.
  void post(Bytes &from, Bytes &to, Mover mover, uint32_t number = 0) {
    for (Bytes *end : {&from, &to}) {
      end->message.tag = {1, 1, 0, number};
      end->message.mover = mover;
    }
    from.message.counter = &sent_;
    to.message.counter = &received_;
    there_->sendsTo(Rank{1})->send(from.message);
    here_->receivesFrom(Rank{0}).recv(to.message);
  }

  void finish() {
    for (int i = 0; i < 1000 && (sent_.outstanding != 0 || received_.outstanding != 0); ++i) {
      there_->progress();
      here_->progress();
    }
    EXPECT_EQ(sent_.outstanding, 0u);
    EXPECT_EQ(received_.outstanding, 0u);
  }

  std::unique_ptr<shm::World> world_;
  std::unique_ptr<protocol::LocalWorker> there_, here_;
  protocol::CompletionCounter sent_, received_;
};

} // namespace colldsl::test
