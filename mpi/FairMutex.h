/// A mutex for a thread that unlocks it for a moment again and again: waiting threads come first.
/// One thread may lock it several times.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace colldsl::mpi {

class FairMutex {
public:
  // A waiting thread holds entry_, so that no other thread overtakes it. The owner is relaxed: a
  // thread finds itself there only if it has stored that, and of other threads it needs nothing.
  void lock() {
    if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    std::lock_guard entry(entry_);
    mutex_.lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    depth_ = 1;
  }

  void unlock() {
    if (--depth_ > 0)
      return;
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }

private:
  std::mutex entry_, mutex_;
  std::atomic<std::thread::id> owner_{};
  unsigned depth_ = 0; ///< the owner's
};

} // namespace colldsl::mpi
