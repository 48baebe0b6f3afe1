/// A mutex for whoever opens it for a moment again and again: those who wait come first. One
/// thread may lock it several times.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace colldsl::mpi {

class FairMutex {
public:
  // Who waits for the room stands in the door, where nobody gets past.
  void lock() {
    if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    std::lock_guard door(door_);
    room_.lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    depth_ = 1;
  }

  void unlock() {
    if (--depth_ > 0)
      return;
    owner_.store({}, std::memory_order_relaxed);
    room_.unlock();
  }

private:
  std::mutex door_, room_;
  std::atomic<std::thread::id> owner_{};
  unsigned depth_ = 0; ///< the owner's
};

} // namespace colldsl::mpi
