/// Sleeping in the kernel until another process has an event.
///
/// The sleeper sets a shared word, then looks for events once more, then sleeps;
/// the waker publishes an event, then reads the word. For that to be safe, one of the two
/// must have a full fence between its write and its read. Where ranks have cores of their own,
/// the sleeper pays for both: it makes every core pass a barrier (membarrier), so the waker's
/// fast path is plain stores and loads. Without membarrier a wake-up may be lost; then the bound
/// on every sleep is what limits the delay. On an oversubscribed machine nearly every wait sleeps,
/// and a barrier on all cores, one sleeper after the other, costs more than all else: there wakers
/// pay, with a fence each.
#pragma once

#include "transports/SpinBudget.h"
#include "transports/shm/Layout.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace colldsl::shm {

/// Whether some of so many ranks on this machine have no core of their own.
bool isOversubscribed(uint32_t numRanks);
uint32_t numCores(); ///< of this machine

/// What is worth trying before a sleep, with so many ranks on this machine.
SpinBudget spinBudgetAmong(uint32_t numRanks);

/// How long one of so many ranks sleeps at most before it looks, if it is `usual` among few: as
/// long as ranks share a core, so that a core's time is not spent on looks.
std::chrono::nanoseconds longestSleepAmong(uint32_t numRanks, std::chrono::nanoseconds usual);

/// Once per process, before it wakes others. Thread safe.
void registerWaker();

/// Marks the rank as sleeping in this way, too; see above. Events looked for afterwards are not
/// missed.
WakeupEpoch armSleep(RankControl &control, bool wakersFence, uint32_t how);

/// As long as a sleep may be where a wake-up may be lost.
std::chrono::nanoseconds boundedSleep(std::chrono::nanoseconds sleep, bool wakersFence);

/// Sleeps while the word has this value, at most so long.
void sleepOn(std::atomic<uint32_t> &word, uint32_t value, std::chrono::nanoseconds atMost);

void futexWakeAll(std::atomic<uint32_t> &word);

} // namespace colldsl::shm
