/// Pipes by which sleepers are woken that wait for other files, too: one per rank that asks for
/// it, in which others write. Thread safe.
#pragma once

#include "transports/shm/Layout.h"

#include <chrono>
#include <memory>
#include <mutex>

namespace colldsl::shm {

class WakeupPipes {
public:
  explicit WakeupPipes(uint32_t numRanks);
  ~WakeupPipes();
  WakeupPipes(const WakeupPipes &) = delete;
  WakeupPipes &operator=(const WakeupPipes &) = delete;

  /// This process's own, of which others learn by `control`: the file to wait for. Negative: there
  /// is none. Once per process.
  int create(RankControl &control);

  /// Until it rings, the word has another value than this, or `file` has something; at most so
  /// long. Thread safe.
  void sleep(const std::atomic<uint32_t> &word, uint32_t value, int file,
             std::chrono::nanoseconds atMost);

  /// From any process, of a rank that has one.
  void wake(uint32_t place, const RankControl &control);

private:
  void drain() const;
  int open(uint32_t place, const RankControl &control);

  uint32_t numRanks_;
  int own_[2] = {-1, -1};
  std::mutex mutex_;
  uint32_t sleepers_ = 0;
  std::unique_ptr<std::atomic<int>[]> others_; ///< by rank; 0: not open yet
};

} // namespace colldsl::shm
