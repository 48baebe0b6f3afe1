#include "transports/Yielding.h"

#include <sched.h>

namespace colldsl {
namespace {

// A yield that took so long gave the core to a process that computes: ranks that wait in turns have
// the core for some microseconds each, others for milliseconds.
constexpr std::chrono::nanoseconds kSlow = std::chrono::milliseconds(1);
constexpr uint32_t kRestsAfterSlow = 64;

} // namespace

bool Yielding::isWorthIt() {
  if (count_ > 0)
    return Clock::now() - begin_ < longest_;
  uint32_t avoid = avoid_.load(std::memory_order_relaxed);
  if (avoid > 0) {
    avoid_.store(avoid - 1, std::memory_order_relaxed);
    return false;
  }
  begin_ = Clock::now();
  return true;
}

void Yielding::yield() {
  Clock::time_point begin = Clock::now();
  sched_yield();
  ++count_;
  if (Clock::now() - begin > kSlow)
    avoid_.store(kRestsAfterSlow, std::memory_order_relaxed);
}

} // namespace colldsl
