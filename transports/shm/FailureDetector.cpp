#include "transports/shm/FailureDetector.h"

namespace colldsl::shm {
namespace {

int64_t nowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace

// A rank sets `left` before its process ends, so a peer that sees the end sees the word: the
// kernel's locks stand between the two.
bool FailureDetector::leftInOrder(Rank rank) const { return world_.hasLeft(rank); }

void FailureDetector::watch(Rank rank) {
  if (rank == self_)
    return;
  std::lock_guard lock(mutex_);
  pid_t process = world_.control(rank).pid.load(std::memory_order_acquire);
  if (!watch_.add(rank, process) && !leftInOrder(rank))
    world_.reportDeath(rank);
  dead_.reserve(world_.numRanks()); // poll() allocates nothing
}

void FailureDetector::poll() {
  int64_t now = nowNs();
  if (now < nextPollNs_.load(std::memory_order_relaxed))
    return;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock)
    return;
  nextPollNs_.store(now + world_.options().watchInterval.count(), std::memory_order_relaxed);
  dead_.clear();
  watch_.collectDead(dead_);
  for (Rank rank : dead_)
    if (!leftInOrder(rank))
      world_.reportDeath(rank);
}

} // namespace colldsl::shm
