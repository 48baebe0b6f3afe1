/// A lock for work that no thread needs to wait for: a thread that fails to get it knows that
/// another thread does the work.
#pragma once

#include <atomic>
#include <thread>

namespace colldsl {

class TryLock {
public:
  // The relaxed look saves a write of the line. The exchange acquires what the store of unlock()
  // releases.
  bool tryLock() {
    return !locked_.load(std::memory_order_relaxed) &&
           !locked_.exchange(true, std::memory_order_acquire);
  }
  void lock() {
    while (!tryLock())
      std::this_thread::yield();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> locked_{false};
};

} // namespace colldsl
