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

/// True if some of `numRanks` ranks on this machine have no core of their own.
bool isOversubscribed(uint32_t numRanks);
uint32_t numCores(); ///< of this machine

/// The budget before a sleep that pays off with `numRanks` ranks on this machine.
SpinBudget spinBudgetAmong(uint32_t numRanks);

/// The longest sleep of one of `numRanks` ranks before it polls: `usual`, or more if many ranks
/// share a core, so that polls do not use up the core.
std::chrono::nanoseconds longestSleepAmong(uint32_t numRanks, std::chrono::nanoseconds usual);

/// Prepares this process to wake others, once, before it does so. Thread safe.
void registerWaker();

/// Marks the rank as sleeping, in the way `how` among others; see above. A thread misses no event
/// that it looks for afterwards.
WakeupEpoch armSleep(RankControl &control, bool wakersFence, uint32_t how);

/// `sleep`, or less if a wake-up may be lost.
std::chrono::nanoseconds boundedSleep(std::chrono::nanoseconds sleep, bool wakersFence);

/// Sleeps while the word has this value, for at most `atMost`.
void sleepOn(std::atomic<uint32_t> &word, uint32_t value, std::chrono::nanoseconds atMost);

void futexWakeAll(std::atomic<uint32_t> &word);

} // namespace colldsl::shm
