/// Pipes by which sleepers are woken that wait for other files, too: one per rank that asks for
/// it, in which others write. Thread safe.
#pragma once

#include "transports/shm/Layout.h"

#include <memory>

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
  /// Silences it.
  void hush() const;

  /// From any process, of a rank that has one.
  void ring(uint32_t place, const RankControl &control);

private:
  int open(uint32_t place, const RankControl &control);

  uint32_t numRanks_;
  int own_[2] = {-1, -1};
  std::unique_ptr<std::atomic<int>[]> others_; ///< by rank; 0: not open yet
};

} // namespace colldsl::shm
