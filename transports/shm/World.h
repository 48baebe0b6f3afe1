/// The memory that the ranks of one machine share: made before they are forked, or by one
/// of them for processes that have nothing else in common. It has no name in the file
/// system, so that none can be left behind.
#pragma once

#include "transports/Fault.h"
#include "transports/SpinBudget.h"
#include "transports/shm/LentMemory.h"
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

  /// Opens a world that another process made with the same numbers: `descriptor`, which stays the
  /// caller's, is its descriptor().
  static Result<std::unique_ptr<World>> open(int descriptor, uint32_t numRanks,
                                             Options options = {});
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// The descriptor of the memory, in the process that made it. closeDescriptor() or ~World()
  /// closes it.
  int descriptor() const { return descriptor_; }
  void closeDescriptor();

  WakeupPipes &wakeupPipes() const { return *wakeupPipes_; }

  uint32_t numRanks() const { return numRanks_; }
  const Options &options() const { return options_; }
  uint32_t ranksOnMachine() const; ///< as in the options of the rank that made the world
  /// True if some of these ranks have no core of their own, as the rank that made the world counted
  /// cores. All ranks use its count, because they choose their algorithms by it, and some systems
  /// count for each process the cores that it may use.
  bool sharesCores() const;
  RankControl &control(Rank rank) const;
  uint64_t arenaBegin(Rank rank) const;
  uint64_t lentBegin(Rank rank) const { return mappedBytes_ + index(rank) * options_.lentBytes; }
  /// The byte at an offset in an arena, or before these.
  std::byte *at(uint64_t offset) const { return base_ + offset; }
  /// The byte at any offset that a rank has; null: it was lent, and cannot be mapped here. The rest
  /// of the block lies behind it.
  std::byte *reach(uint64_t offset) const {
    return offset < mappedBytes_ ? at(offset) : reachLent(offset);
  }
  /// With Options::lentBytes.
  LentMemory &lentMemory() const { return *lent_; }

  /// Gives the whole pages of these bytes back to the system. They read as zero later, unless the
  /// system keeps them.
  void returnPages(uint64_t offset, uint64_t bytes) const;

  /// The offset of these bytes, if they lie in an arena, or in lent memory.
  std::optional<uint64_t> offsetOf(const void *memory, uint64_t bytes) const {
    uint64_t offset = static_cast<uint64_t>(static_cast<const std::byte *>(memory) - base_);
    if (offset < mappedBytes_ && bytes <= mappedBytes_ - offset)
      return offset;
    return lent_ ? lent_->offsetOf(memory, bytes) : std::nullopt;
  }

  /// True if the rank closed its endpoint. If its process ends later, it ends in order.
  bool hasLeft(Rank rank) const { return control(rank).left.load(std::memory_order_acquire) != 0; }

  /// Ends the sleep of a rank for an event: call it after the event is written.
  /// One load unless the rank sleeps, or wakers pay for the fence (Sleep.h). It is relaxed, as the
  /// fence, or the sleeper's barrier, orders it behind the event; the compiler must keep the two in
  /// order for that.
  void wake(Rank rank) const {
    if (wakersFence_)
      std::atomic_thread_fence(std::memory_order_seq_cst);
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
    if (control(rank).sleeping.load(std::memory_order_relaxed) != 0)
      wakeSleeper(rank);
  }

  /// Announces that a thread of the rank is about to sleep on its word or on its pipe; see Sleep.h.
  /// Thread safe, as both sleeps are.
  WakeupEpoch armSleep(Rank self, uint32_t how) const;
  void sleepOnWord(Rank self, WakeupEpoch epoch, std::chrono::nanoseconds atMost) const;
  /// Variant of sleepOnWord() that ends, too, when `file` is readable. Negative: there is no file.
  void sleepOnFd(Rank self, WakeupEpoch epoch, int file, std::chrono::nanoseconds atMost) const;

  /// True if the rank's death was reported.
  bool isDead(Rank rank) const { return control(rank).isDead.load(std::memory_order_acquire) != 0; }

  /// Records that a plan failed for good, and wakes everybody. The upper half of `plan` names a
  /// group, the lower one is its number among the plans of the group. `isOfAll`: all ranks are in
  /// the group, and publish their OpenPlans, so that failures that no rank can query any more make
  /// room.
  void report(uint64_t plan, const Fault &fault, bool isOfAll = false) const;
  /// Fails all plans, for this reason unless there was one before.
  void reportToAll(const Fault &fault) const;
  void reportDeath(Rank rank) const;

  /// Variant of report() for one run of a plan alone. Runs are numbered from 1. The first report of
  /// a run counts.
  void reportRun(uint64_t plan, uint32_t run, const Fault &fault) const;

  /// The number of reports. It grows once a report can be found.
  uint32_t numReports() const { return header().reports.load(std::memory_order_acquire); }

  /// True if ranks measure the cost of copies when they join; alike on all of them.
  bool measuresCopies() const { return header().measuresCopies != 0; }
  /// The sizes that ranks or earlier jobs measured, or the fixed ones of ranks that share cores;
  /// nothing: those of the options count.
  std::optional<CopySizes> copySizes() const {
    const MeasuredCopies &sizes = header().measuredCopies;
    CopySizes known = {sizes.singleCopyMinBytes, sizes.rendezvousThresholdBytes};
    return known.singleCopyMinBytes != 0 ? std::optional(known) : std::nullopt;
  }
  void setCopySizes(CopySizes sizes) {
    header().measuredCopies.rendezvousThresholdBytes = sizes.rendezvousThresholdBytes;
    header().measuredCopies.singleCopyMinBytes = sizes.singleCopyMinBytes;
  }

  /// The failure of this plan by itself, if it failed for good.
  std::optional<Fault> findFailure(uint64_t plan) const;
  /// The failure of all plans, if they failed.
  std::optional<Fault> findFailureOfAll() const;
  /// The death of a rank for which isOurs(rank) is true.
  template <typename IsOurs> std::optional<Fault> findDeath(IsOurs isOurs) const {
    if (header().deaths.load(std::memory_order_acquire) == 0)
      return std::nullopt;
    for (uint32_t r = 0; r < numRanks_; ++r)
      if (isDead(Rank{r}) && isOurs(Rank{r}))
        return Fault{Rank{r}, kNoOp, reasonOfDeath(Rank{r}), ErrorKind::RankDied};
    return std::nullopt;
  }
  /// The failure of this run of the plan, if it failed. After the failures of a thousand other runs
  /// the table has lost it: then all runs of the plan that are as old count as failed.
  std::optional<Fault> findRunFailure(uint64_t plan, uint32_t run) const;

private:
  World(uint32_t numRanks, Options options);
  Status map(int descriptor);
  std::byte *reachLent(uint64_t offset) const;
  uint64_t sizeBytes() const { return mappedBytes_ + numRanks_ * options_.lentBytes; }
  void wakeSleeper(Rank rank) const;
  void notifyAll() const;
  bool isNeeded(const RunFailure &failure) const;
  bool hasOpen(Rank rank, uint32_t number) const;
  WorldHeader &header() const { return *reinterpret_cast<WorldHeader *>(base_); }

  uint32_t numRanks_;
  Options options_;
  uint64_t mappedBytes_;
  bool wakersFence_ = false; ///< wakers pay for the fence of a sleep, see Sleep.h
  int descriptor_ = -1;
  std::byte *base_ = nullptr;
  std::unique_ptr<LentMemory> lent_;
  std::unique_ptr<WakeupPipes> wakeupPipes_;
};

} // namespace colldsl::shm
