/// Sleeping in the kernel until another process has news.
///
/// The sleeper says so in a shared word, then looks for news once more, then sleeps;
/// the waker publishes news, then reads the word. For that to be safe, one of the two
/// must have a full fence between its write and its read. The sleeper pays for both:
/// it makes every core pass a barrier (membarrier), so the waker's fast path is plain
/// stores and loads. Without membarrier a wake-up may be lost; then the bound on
/// every sleep is what limits the delay.
#pragma once

#include "transports/Transport.h"
#include "transports/shm/Layout.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace colldsl::shm {

/// Whether some of so many ranks on this machine have no core of their own.
bool isCrowd(uint32_t numRanks);

/// What is worth trying before a sleep, with so many ranks on this machine.
Patience patienceAmong(uint32_t numRanks);

/// Once per process, before it wakes others. Thread safe.
void registerWaker();

/// Marks the rank as sleeping in this way; see above. News looked for afterwards are not missed.
void armSleep(std::atomic<uint32_t> &word, uint32_t how = RankControl::kOnWord);

/// Sleeps while the word is 1, at most so long.
void sleepOn(std::atomic<uint32_t> &word, std::chrono::nanoseconds atMost);

/// Sleeps until one of the files has something, at most so long. Negative: no file.
void sleepOn(int bell, int file, std::chrono::nanoseconds atMost);

void futexWakeAll(std::atomic<uint32_t> &word);

} // namespace colldsl::shm
