/// What ranks share. Every word has one writer, or changes hands through an
/// acquire/release pair; only failures, requests to send and sleeping use read-modify-write.
///
///   WorldHeader | RankControl[ranks] | arena of rank 0 | arena of rank 1 | ...
///
/// A channel lies in the arena of its receiver:
///   ChannelHeader | FlagLine[ringLines] | state u32[messages]
/// The payload cells of a plan lie in the arena of their sender.
#pragma once

#include "ir/Result.h"
#include "transports/Rendezvous.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace colldsl::shm {

inline constexpr uint32_t kLineBytes = 64;
inline constexpr uint32_t kInlineBytes = 48;

/// A run that failed, of a plan that did not; or a plan, of those of a group, which are numbered as
/// runs are.
struct RunFailure {
  uint64_t plan;
  uint32_t run;
  Rank culprit; ///< who died or misbehaved, kNoRank: nobody known
  ErrorKind kind;
  char reason[232];
};

/// The newest of those, each at its place, which it takes from an older one.
struct RunFailures {
  static constexpr uint32_t kPlaces = 1024;
  struct alignas(kLineBytes) Entry {
    std::atomic<uint32_t> turn; ///< odd: somebody is writing; else how often that was done, twice
    /// A RunFailure.
    std::atomic<uint64_t> words[sizeof(RunFailure) / sizeof(uint64_t)];
  };
  Entry entries[kPlaces];
  /// By plan, where several may meet: in the lower half the last run that lost its place. Of the
  /// runs of that plan up to it nobody can say that they did not fail. The upper half is the plan's
  /// tag; kOfSeveral: runs of several plans lost theirs. 0: none has.
  std::atomic<uint64_t> lost[kPlaces];
  static constexpr uint32_t kOfSeveral = 0xffffffffu;

  static uint32_t placeOf(uint64_t plan) {
    return static_cast<uint32_t>(plan * 0x9e3779b97f4a7c15u >> 32) % kPlaces;
  }
  /// Neither 0 nor kOfSeveral.
  static uint32_t tagOf(uint64_t plan) {
    return static_cast<uint32_t>(plan * 0xc2b2ae3d27d4eb4fu >> 32) % (kOfSeveral - 1) + 1;
  }
  /// Runs of a plan that follow each other have places that do.
  static uint32_t placeOf(uint64_t plan, uint32_t run) { return (placeOf(plan) + run) % kPlaces; }
};
static_assert(sizeof(RunFailure) % sizeof(uint64_t) == 0);

struct WorldHeader {
  uint32_t wakersFence;          ///< 1: see Sleep.h. Written before others join
  RunFailures::Entry everything; ///< why all plans fail, if they do; the first failure counts
  RunFailures planFailures;
  RunFailures runFailures;
  alignas(kLineBytes) std::atomic<uint32_t> deaths;  ///< how many ranks died
  alignas(kLineBytes) std::atomic<uint32_t> reports; ///< of either, so that news are one load
};

/// A plan that a rank has open. It lies in that rank's arena and never goes.
struct OpenPlan {
  uint64_t next;                ///< offset of the one that was made before, 0: none
  std::atomic<uint32_t> number; ///< of the plan, plus one; 0: none
};

/// One rank's public words.
struct RankControl {
  /// Not 0: a thread of the rank sleeps or is about to. Whoever has news for the rank
  /// sets it to 0 and wakes all sleepers.
  static constexpr uint32_t kOnWord = 1, kOnBell = 2; ///< bits
  alignas(kLineBytes) std::atomic<uint32_t> sleeping;
  /// Grows with each wake-up, so that a thread whose wake-up came before it slept does not sleep.
  std::atomic<uint32_t> wakes;
  /// The rest is written by the rank itself.
  alignas(kLineBytes) std::atomic<pid_t> pid; ///< 0: not here yet
  std::atomic<uint32_t> left;                 ///< it closed its endpoint
  std::atomic<uint32_t> exchangeSeq;          ///< parcels of this exchange are out
  std::atomic<uint32_t> arriveSeq;            ///< it reached this barrier
  std::atomic<uint32_t> releaseSeq;           ///< rank 0 only: all reached this barrier
  std::atomic<uint32_t> hasFailed;            ///< rank 0 only, with releaseSeq: the plan has
  /// How many of the plans that all ranks open together this rank has opened, and the offset of the
  /// newest OpenPlan, 0: there is none.
  std::atomic<uint32_t> plansOpened;
  std::atomic<uint64_t> openPlans;
  std::atomic<uint64_t> parcels;  ///< offset of its parcel directory
  std::atomic<uint64_t> progress; ///< offset of the newest shm::RunCounter, 0: there is none
  std::atomic<int32_t> bell; ///< number of its file in the process, plus one; 0: none, see Bells
  /// Offset of the newest lane that others made to this rank, 0: there is none. The only
  /// word here that several write.
  alignas(kLineBytes) std::atomic<uint64_t> knocks;
  std::atomic<uint32_t> isDead; ///< somebody saw the end of its process
};

enum class LineKind : uint8_t {
  Inline,   ///< the payload is in the line
  Cell,     ///< the payload is in a cell
  Request,  ///< the payload waits at the sender until the receiver is ready
  Fragment, ///< the next part of a payload that the receiver is ready for, in a cell
};

struct CellBody {
  uint64_t bytes;
  uint64_t cell; ///< offset in the mapping
};

struct RequestBody {
  uint64_t bytes;
  uint64_t address; ///< in the sender's process: as in cma::RemotePayload
  uint32_t pieces;
  uint32_t use; ///< of the message's state word: see Rendezvous.h
};

union LineBody {
  std::byte data[kInlineBytes];
  CellBody cell;
  RequestBody request;
};

/// One header. stamp is written last: position in the stream of headers, plus one.
struct alignas(kLineBytes) FlagLine {
  std::atomic<uint32_t> stamp;
  uint32_t run;
  uint32_t message; ///< place in the edge's list of messages
  uint16_t inlineBytes;
  LineKind kind;
  LineBody body;
};
static_assert(sizeof(FlagLine) == kLineBytes);

struct ChannelHeader {
  alignas(kLineBytes) std::atomic<uint32_t> consumed; ///< receiver: lines that are free again
  std::atomic<uint32_t> receiverClosed;
  alignas(kLineBytes) std::atomic<uint32_t> senderClosed;
};

/// A payload cell; its bytes follow. busy is set by the sender, who owns the cell
/// while it is 0, and cleared by the receiver.
struct alignas(kLineBytes) CellHeader {
  std::atomic<uint32_t> busy;
};

inline std::byte *bytesOf(CellHeader *cell) { return reinterpret_cast<std::byte *>(cell + 1); }

constexpr uint64_t channelBytes(uint32_t ringLines, uint32_t messages) {
  return sizeof(ChannelHeader) + uint64_t{ringLines} * sizeof(FlagLine) +
         uint64_t{messages} * sizeof(std::atomic<uint32_t>);
}

/// How many lines the ring of an edge gets: both ends compute it alike.
constexpr uint32_t ringLines(uint32_t messages, uint32_t most) {
  uint32_t lines = 8;
  while (lines < most && lines < 2 * uint64_t{messages})
    lines *= 2;
  return lines;
}

static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

} // namespace colldsl::shm
