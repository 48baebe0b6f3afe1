#include "transports/shm/Sleep.h"

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colldsl::shm {
namespace {

// A look takes some ten nanoseconds; giving the core away to nobody some hundred, to another
// process a thousand; sleeping and being woken a few thousand, on both sides.
constexpr Patience kOnOwnCore = {2000, 2000, std::chrono::microseconds(20)};
// Whoever is waited for needs this core, or runs just now on another one and answers in a moment.
constexpr Patience kInCrowd = {4, 4, std::chrono::microseconds(100)};

// What a lost wake-up costs at most where the kernel has no membarrier.
constexpr std::chrono::nanoseconds kBlindSleep = std::chrono::microseconds(200);

bool barrierOnAllCores() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool hasBarrier() {
  static const bool has =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return has;
}

std::chrono::nanoseconds bounded(std::chrono::nanoseconds sleep) {
  return hasBarrier() ? sleep : std::min(sleep, kBlindSleep);
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

bool isCrowd(uint32_t numRanks) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 && numRanks > static_cast<uint64_t>(cores);
}

Patience patienceAmong(uint32_t numRanks) { return isCrowd(numRanks) ? kInCrowd : kOnOwnCore; }

void registerWaker() { hasBarrier(); }

void armSleep(std::atomic<uint32_t> &word, uint32_t how) {
  word.store(how, std::memory_order_seq_cst);
  if (hasBarrier())
    barrierOnAllCores();
}

void sleepOn(std::atomic<uint32_t> &word, std::chrono::nanoseconds atMost) {
  atMost = bounded(atMost);
  if (atMost <= std::chrono::nanoseconds::zero())
    return;
  timespec timeout = timespecOf(atMost);
  futex(word, FUTEX_WAIT, 1, &timeout);
}

void sleepOn(int bell, int file, std::chrono::nanoseconds atMost) {
  pollfd files[] = {{bell, POLLIN, 0}, {file, POLLIN, 0}};
  timespec timeout = timespecOf(std::max(bounded(atMost), std::chrono::nanoseconds::zero()));
  ppoll(files, 2, &timeout, nullptr);
}

void futexWakeAll(std::atomic<uint32_t> &word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

} // namespace colldsl::shm
