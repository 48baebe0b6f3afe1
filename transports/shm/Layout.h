/// The memory that ranks share, besides the contents of their arenas (Fifo.h). Every word has one
/// writer, or changes hands through an acquire/release pair; only failures, connections and
/// sleeping use read-modify-write.
///
///   WorldHeader | RankControl[ranks] | arena of rank 0 | arena of rank 1 | ... | lent by rank 0 |
///   ...
#pragma once

#include "ir/Result.h"
#include "transports/RunPlaces.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace colldsl::shm {

inline constexpr uint32_t kLineBytes = 64;

/// The failure of a run of a plan that did not fail, or of a plan of a group. Plans of a group are
/// numbered as runs of a plan are.
struct RunFailure {
  uint64_t plan;
  uint32_t run;
  Rank culprit; ///< the rank that died or misbehaved, kNoRank: unknown
  ErrorKind kind;
  char reason[232];
};

/// The newest failures, each at its place, which it takes from an older one.
struct RunFailures {
  struct alignas(kLineBytes) Entry {
    /// Odd: a rank is writing; else twice the number of writes. A rank takes a turn by a change
    /// that acquires, and leaves it by a store that releases the words.
    std::atomic<uint32_t> turn;
    /// A RunFailure. The stores release the odd turn: who acquires a word of a write that is under
    /// way finds the turn changed.
    std::atomic<uint64_t> words[sizeof(RunFailure) / sizeof(uint64_t)];
  };
  Entry entries[kRunPlaces];
  /// Failures that lost their place, by plan; several plans may share a word. The lower half is the
  /// last run whose failure was lost: any run of that plan up to it may have failed. The upper half
  /// is the plan's tag, or kOfSeveral if failures of several plans were lost. 0: none was. Its
  /// changes stand before that of the turn, which releases them, too.
  std::atomic<uint64_t> lost[kRunPlaces];
  static constexpr uint32_t kOfSeveral = 0xffffffffu;

  /// The tag of a plan in `lost`: neither 0 nor kOfSeveral.
  static uint32_t tagOf(uint64_t plan) {
    return static_cast<uint32_t>(plan * 0xc2b2ae3d27d4eb4fu >> 32) % (kOfSeveral - 1) + 1;
  }
};
static_assert(sizeof(RunFailure) % sizeof(uint64_t) == 0);

/// The sizes from which one copy by the kernel is faster.
struct MeasuredCopies {
  std::atomic<uint64_t> singleCopyMinBytes;       ///< 0: nothing was measured
  std::atomic<uint32_t> rendezvousThresholdBytes; ///< see Limits
};

struct WorldHeader {
  uint32_t ranksOnMachine;       ///< as in Options. Written before others join, as are the next two
  uint32_t sharesCores;          ///< 1: these are more than the cores
  uint32_t measuresCopies;       ///< 1: ranks measure them when they join
  RunFailures::Entry everything; ///< failure of all plans; the first one counts
  RunFailures planFailures;
  RunFailures runFailures;
  alignas(kLineBytes) std::atomic<uint32_t> deaths; ///< reports of deaths; 0: no rank died
  MeasuredCopies measuredCopies;                    ///< written before ranks have joined
  /// Failures and deaths, so that a check is one load. Each addition releases what is reported to
  /// loads that acquire, also of later additions, as only read-modify-writes change it.
  alignas(kLineBytes) std::atomic<uint32_t> reports;
};

/// A plan that a rank has open. It lies in that rank's arena and never goes.
struct OpenPlan {
  uint64_t next; ///< offset of the OpenPlan made before, 0: none
  /// Of the plan, plus one; 0: none. Released by plansOpened or openPlans, which ranks that look
  /// acquire.
  std::atomic<uint32_t> number;
};

/// A block that a rank lends beyond its arena, in which it lies and never goes.
struct LentBlock {
  uint64_t next; ///< offset of the LentBlock made before, 0: none
  /// Odd: it is lent. Each change but the last releases the next two to ranks that look for a
  /// block.
  std::atomic<uint32_t> use;
  std::atomic<uint64_t> begin, bytes; ///< in the memory that ranks share
};

/// One rank's public words.
struct RankControl {
  /// Not 0: a thread of the rank sleeps or is about to. A peer with an event for the rank
  /// sets it to 0 and wakes all sleepers. Sleep.h says what orders it and the events.
  static constexpr uint32_t kOnWord = 1, kOnFd = 2; ///< bits
  alignas(kLineBytes) std::atomic<uint32_t> sleeping;
  /// Grows with each wake-up, so that a thread whose wake-up came before it slept does not sleep.
  std::atomic<uint32_t> wakes;
  /// The rank itself writes the rest, except connectRequests and isDead. Each store releases what
  /// the rank has written before to the loads of others, which acquire; but the process id is read
  /// relaxed once it was seen, and bootstrapData is released by exchangeSeq.
  alignas(kLineBytes) std::atomic<pid_t> pid; ///< 0: not here yet
  std::atomic<uint32_t> left;                 ///< it closed its endpoint
  std::atomic<uint32_t> exchangeSeq;          ///< bootstrap data of this exchange is out
  std::atomic<uint32_t> arriveSeq;            ///< it reached this barrier
  std::atomic<uint32_t> releaseSeq;           ///< rank 0 only: all reached this barrier
  /// The number of plans that this rank has opened, of those that all ranks open together, and the
  /// offset of the newest OpenPlan, 0: there is none.
  std::atomic<uint32_t> plansOpened;
  std::atomic<uint64_t> openPlans;
  std::atomic<uint64_t> lentBlocks;    ///< offset of the newest LentBlock, 0: there is none
  std::atomic<uint64_t> bootstrapData; ///< offset of its directory
  std::atomic<uint64_t> progress;      ///< offset of the newest shm::RunCounter, 0: there is none
  std::atomic<int32_t>
      wakeupFd; ///< number of its file in the process, plus one; 0: none, see WakeupPipes
  /// Offset of the newest FIFO that others made to this rank, 0: there is none. Several ranks write
  /// it, by changes that release the FIFO. The rank looks relaxed, and acquires what it takes.
  alignas(kLineBytes) std::atomic<uint64_t> connectRequests;
  std::atomic<uint32_t> isDead; ///< a rank saw the end of its process
};

static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

} // namespace colldsl::shm
