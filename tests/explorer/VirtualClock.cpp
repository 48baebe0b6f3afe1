#include "tests/explorer/VirtualClock.h"

#include "tests/explorer/Fiber.h"

#include <ctime>
#include <malloc.h>

namespace colldsl::test {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

// Not 0, which stands for "never" in some places.
constexpr Nanoseconds kBegin = std::chrono::hours(1);

bool isVirtual = false, isRunning = false;
Nanoseconds virtualNow{0};

} // namespace

VirtualClock::VirtualClock() {
  virtualNow = kBegin;
  isVirtual = true;
  isRunning = false;
}
VirtualClock::~VirtualClock() { isVirtual = false; }
void VirtualClock::advance(Nanoseconds by) { virtualNow += by; }
Nanoseconds VirtualClock::passed() const { return virtualNow - kBegin; }
void VirtualClock::run() { isRunning = true; }

} // namespace colldsl::test

// In place of the library's, as are calls of the kernel: a rank that waits in the protocol yields
// to the other ranks, and none sleeps.
extern "C" int sched_yield() noexcept {
  using namespace colldsl::test;
  Fiber *fiber = Fiber::current();
  if (fiber && !isRunning)
    fiber->leave();
  return 0;
}
extern "C" int eventfd(unsigned int, int) noexcept { return -1; }

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  using namespace colldsl::test;
  if (isVirtual) {
    virtualNow += isRunning ? Nanoseconds(std::chrono::hours(1)) : Nanoseconds(0);
    return time_point(virtualNow);
  }
  timespec at = {};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return time_point(std::chrono::seconds(at.tv_sec) + Nanoseconds(at.tv_nsec));
}
