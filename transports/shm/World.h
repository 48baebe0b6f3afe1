/// The memory that the ranks of one machine share: made before they are forked, or by one
/// of them for processes that have nothing else in common. It has no name in the file
/// system, so that none can be left behind.
#pragma once

#include "transports/Fault.h"
#include "transports/SpinBudget.h"
#include "transports/shm/ShmOptions.h"
#include "transports/shm/WakeupPipes.h"

#include <memory>
#include <optional>

namespace colldsl::shm {

/// The message that reports the death of a rank.
std::string reasonOfDeath(Rank rank);

/// Thread safe. Owns the mapping in every process that inherited it; every process
/// may destroy its own copy at any time when it has no endpoint any more.
class World {
public:
  static Result<std::unique_ptr<World>> create(uint32_t numRanks, Options options = {});

  /// One that another process made with the same numbers: `descriptor`, which stays the
  /// caller's, is its descriptor().
  static Result<std::unique_ptr<World>> open(int descriptor, uint32_t numRanks,
                                             Options options = {});
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// Of the memory, in the process that made it; closed with closeDescriptor() or the world.
  int descriptor() const { return descriptor_; }
  void closeDescriptor();

  WakeupPipes &wakeupPipes() const { return *wakeupPipes_; }

  uint32_t numRanks() const { return numRanks_; }
  const Options &options() const { return options_; }
  uint32_t ranksOnMachine() const; ///< Options, of the rank that made the world
  /// Some of these have no core of their own, as that rank counted cores: all ranks choose their
  /// algorithms by it, and some systems count for each process the cores that it may use.
  bool sharesCores() const;
  RankControl &control(Rank rank) const;
  uint64_t arenaBegin(Rank rank) const;
  std::byte *at(uint64_t offset) const { return base_ + offset; }

  /// Gives the whole pages of these bytes back to the system. What is there later is zero.
  void returnPages(uint64_t offset, uint64_t bytes) const;

  /// Where these bytes lie in the mapping, if they do.
  std::optional<uint64_t> offsetOf(const void *memory, uint64_t bytes) const {
    uint64_t offset = static_cast<uint64_t>(static_cast<const std::byte *>(memory) - base_);
    bool isInside = offset < sizeBytes_ && bytes <= sizeBytes_ - offset;
    return isInside ? std::optional(offset) : std::nullopt;
  }

  /// It closed its endpoint; it died or ended in order.
  bool hasLeft(Rank rank) const { return control(rank).left.load(std::memory_order_acquire) != 0; }

  /// Ends the sleep of a rank for an event: call it after the event is written.
  /// One load unless the rank sleeps, or wakers pay for the fence (Sleep.h).
  void wake(Rank rank) const {
    if (wakersFence_)
      std::atomic_thread_fence(std::memory_order_seq_cst);
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
    if (control(rank).sleeping.load(std::memory_order_relaxed) != 0)
      wakeSleeper(rank);
  }

  /// A thread of the rank is about to sleep on its word or on its bell; see Sleep.h. Thread safe,
  /// as both sleeps are.
  WakeupEpoch armSleep(Rank self, uint32_t how) const;
  void sleepOnWord(Rank self, WakeupEpoch epoch, std::chrono::nanoseconds atMost) const;
  /// Until `file` has something, too. Negative: there is none.
  void sleepOnFd(Rank self, WakeupEpoch epoch, int file, std::chrono::nanoseconds atMost) const;

  /// Whether its death was reported.
  bool isDead(Rank rank) const { return control(rank).isDead.load(std::memory_order_acquire) != 0; }

  /// Writes down that a plan failed for good, and wakes everybody. The upper half of `plan` names a
  /// group, the lower one is its number among the plans of the group. `isOfAll`: all ranks are in
  /// the group, and publish their OpenPlans; so failures that no rank can query any more make room.
  void report(uint64_t plan, const Fault &fault, bool isOfAll = false) const;
  /// All plans fail, for this reason unless there was one before.
  void reportToAll(const Fault &fault) const;
  void reportDeath(Rank rank) const;

  /// The same of one run of it alone, which are numbered from 1. The first report of a run counts.
  void reportRun(uint64_t plan, uint32_t run, const Fault &fault) const;

  /// Grows with each report, after it can be found.
  uint32_t numReports() const { return header().reports.load(std::memory_order_acquire); }

  /// Whether ranks measure when they join what copies cost: alike on all of them.
  bool measuresCopies() const { return header().measuresCopies != 0; }
  /// As ranks measured them, or as they are where ranks share cores.
  MeasuredCopies &measuredCopies() const { return header().measuredCopies; }

  /// Whether this plan failed for good, by itself.
  std::optional<Fault> findFailure(uint64_t plan) const;
  /// Whether all plans did.
  std::optional<Fault> findFailureOfAll() const;
  /// Of a rank of which isOurs(rank) is true.
  template <typename IsOurs> std::optional<Fault> findDeath(IsOurs isOurs) const {
    if (header().deaths.load(std::memory_order_acquire) == 0)
      return std::nullopt;
    for (uint32_t r = 0; r < numRanks_; ++r)
      if (isDead(Rank{r}) && isOurs(Rank{r}))
        return Fault{Rank{r}, kNoOp, reasonOfDeath(Rank{r}), ErrorKind::RankDied};
    return std::nullopt;
  }
  /// Whether this run of the plan failed. After the failures of a thousand other runs the table has
  /// lost it: then all runs of the plan that are as old count as failed.
  std::optional<Fault> findRunFailure(uint64_t plan, uint32_t run) const;

private:
  World(uint32_t numRanks, Options options);
  Status map(int descriptor);
  void wakeSleeper(Rank rank) const;
  void notifyAll() const;
  bool isNeeded(const RunFailure &failure) const;
  bool hasOpen(Rank rank, uint32_t number) const;
  WorldHeader &header() const { return *reinterpret_cast<WorldHeader *>(base_); }

  uint32_t numRanks_;
  Options options_;
  uint64_t sizeBytes_;
  bool wakersFence_ = false; ///< of both ends of a sleep, see Sleep.h
  int descriptor_ = -1;
  std::byte *base_ = nullptr;
  std::unique_ptr<WakeupPipes> wakeupPipes_;
};

} // namespace colldsl::shm
