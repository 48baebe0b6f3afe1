/// Pipes that wake ranks which also sleep on other file descriptors: one per rank that wants it,
/// into which other ranks write. Thread safe.
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

  /// Creates this process's own pipe; other ranks find it by `control`. Returns the end to wait
  /// for; negative: there is none. Once per process.
  int create(RankControl &control);

  /// Sleeps until wake() is called, `file` is readable or `atMost` has passed. Returns at once if
  /// the word has another value than `value`. Thread safe.
  void sleep(const std::atomic<uint32_t> &word, uint32_t value, int file,
             std::chrono::nanoseconds atMost);

  /// Wakes a rank that has a pipe. From any process.
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
