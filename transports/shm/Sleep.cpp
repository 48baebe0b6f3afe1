#include "transports/shm/Sleep.h"

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colldsl::shm {
namespace {

// A look takes some ten nanoseconds. A yield takes some hundred if no other process wants the core,
// and a thousand if one does. A sleep and its wake-up take a few thousand, on both sides.
constexpr SpinBudget kOnOwnCore = {2000, 2000, std::chrono::microseconds(20)};
// The awaited peer needs this core, or runs just now on another one and answers in a moment.
constexpr SpinBudget kOversubscribed = {4, 4, std::chrono::milliseconds(1)};

// To wake, to poll and to sleep again takes some 20 us of a core. With one such poll per 250 us and
// rank, the sleepers of a core take a twelfth of it, however many they are.
constexpr std::chrono::nanoseconds kSleepPerRank = std::chrono::microseconds(250);

// The longest sleep where the kernel has no membarrier, and so the longest delay of a lost wake-up.
constexpr std::chrono::nanoseconds kBlindSleep = std::chrono::microseconds(200);

bool barrierOnAllCores() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool hasBarrier() {
  static const bool has =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return has;
}

timespec timespecOf(std::chrono::nanoseconds duration) {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {seconds.count(), (duration - seconds).count()};
}

// The futex lies in memory that processes share: no FUTEX_PRIVATE_FLAG.
long futex(std::atomic<uint32_t> &word, int what, uint32_t value, const timespec *timeout) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), what, value, timeout, nullptr, 0);
}

} // namespace

uint32_t numCores() {
  return static_cast<uint32_t>(std::clamp<long>(sysconf(_SC_NPROCESSORS_ONLN), 1, UINT32_MAX));
}

bool isOversubscribed(uint32_t numRanks) { return numRanks > numCores(); }

SpinBudget spinBudgetAmong(uint32_t numRanks) {
  SpinBudget spinBudget = isOversubscribed(numRanks) ? kOversubscribed : kOnOwnCore;
  spinBudget.longestSleep = longestSleepAmong(numRanks, spinBudget.longestSleep);
  return spinBudget;
}

std::chrono::nanoseconds longestSleepAmong(uint32_t numRanks, std::chrono::nanoseconds usual) {
  return std::max(usual, kSleepPerRank * (numRanks / numCores()));
}

void registerWaker() { hasBarrier(); }

// Wakers count a wake-up after they set the word to 0: one that is counted after the load below
// ends the sleep. The load acquires, so that the change behind it is not made before. The fence
// behind both, or the barrier, orders the change before the looks for events that follow.
WakeupEpoch armSleep(RankControl &control, bool wakersFence, uint32_t how) {
  WakeupEpoch epoch = control.wakes.load(std::memory_order_seq_cst);
  control.sleeping.fetch_or(how, std::memory_order_seq_cst);
  if (wakersFence)
    std::atomic_thread_fence(std::memory_order_seq_cst);
  else if (hasBarrier())
    barrierOnAllCores();
  return epoch;
}

std::chrono::nanoseconds boundedSleep(std::chrono::nanoseconds sleep, bool wakersFence) {
  return wakersFence || hasBarrier() ? sleep : std::min(sleep, kBlindSleep);
}

void sleepOn(std::atomic<uint32_t> &word, uint32_t value, std::chrono::nanoseconds atMost) {
  if (atMost <= std::chrono::nanoseconds::zero())
    return;
  timespec timeout = timespecOf(atMost);
  futex(word, FUTEX_WAIT, value, &timeout);
}

void futexWakeAll(std::atomic<uint32_t> &word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

} // namespace colldsl::shm
