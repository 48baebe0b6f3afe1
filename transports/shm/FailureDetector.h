/// Detects the deaths of ranks, as far as this rank can see them. Thread safe.
#pragma once

#include "transports/shm/PeerWatch.h"
#include "transports/shm/World.h"

#include <atomic>
#include <mutex>

namespace colldsl::shm {

class FailureDetector {
public:
  FailureDetector(World &world, Rank self) : world_(world), self_(self) {}

  /// Watches a rank from now on. Every rank watches its right neighbour, so that each death has a
  /// witness, and the peers of its edges, so that it notices their deaths soon.
  void watch(Rank rank);

  /// Reports deaths to everybody. Enters the kernel at most once per watch interval.
  void poll();

private:
  bool leftInOrder(Rank rank) const;

  World &world_;
  Rank self_;
  std::mutex mutex_;
  PeerWatch watch_;
  std::vector<Rank> dead_;
  std::atomic<int64_t> nextPollNs_{0};
};

} // namespace colldsl::shm
