/// Pipes by which sleepers are woken that wait for other files, too: one per rank that asks for
/// it, in which others write. Thread safe.
#pragma once

#include "transports/shm/Layout.h"

#include <chrono>
#include <memory>
#include <mutex>

namespace colldsl::shm {

class Bells {
public:
  explicit Bells(uint32_t numRanks);
  ~Bells();
  Bells(const Bells &) = delete;
  Bells &operator=(const Bells &) = delete;

  /// This process's own, of which others learn by `control`: the file to wait for. Negative: there
  /// is none. Once per process.
  int hang(RankControl &control);

  /// Until it rings, the word has another value than this, or `file` has something; at most so
  /// long. Thread safe.
  void sleep(const std::atomic<uint32_t> &word, uint32_t value, int file,
             std::chrono::nanoseconds atMost);

  /// From any process, of a rank that has one.
  void ring(uint32_t place, const RankControl &control);

private:
  void hush() const;
  int open(uint32_t place, const RankControl &control);

  uint32_t numRanks_;
  int own_[2] = {-1, -1};
  std::mutex mutex_;
  uint32_t sleepers_ = 0;
  std::unique_ptr<std::atomic<int>[]> others_; ///< by rank; 0: not open yet
};

} // namespace colldsl::shm
