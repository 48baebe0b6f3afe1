/// The ops of all ranks of a schedule with sizes: numbered consecutively, messages with both ends,
/// bytes in place of slices, and the round of each message.
#pragma once

#include "ir/Schedule.h"
#include "show/Columns.h"

#include <optional>
#include <vector>

namespace colldsl::show {

inline constexpr uint32_t kNoIndex = 0xffffffffu;

struct OpTable {
  const Schedule *schedule = nullptr;
  std::vector<uint32_t> first;   ///< per rank, and one past the end
  std::vector<uint32_t> partner; ///< per op: the other end of its message, or kNoIndex
  std::vector<uint32_t> round;   ///< per op; messages count from 1. 0: no message came before
  std::vector<uint64_t> bytes;   ///< per op: payload
  uint32_t rounds = 0;           ///< the longest chain of messages that follow each other
  std::optional<uint32_t>
      portRounds; ///< with one port per rank; nothing where synchronous sends deadlock
  uint64_t messages = 0, volume = 0;
  bool isCyclic = false; ///< some ops wait for each other: a deadlock

  uint32_t size() const { return first.back(); }
  uint32_t numRanks() const { return static_cast<uint32_t>(first.size() - 1); }
  uint32_t rankOf(uint32_t op) const;
  /// True if some op has another processor than 0.
  bool hasProcessors() const;
  const Op &at(uint32_t op) const {
    uint32_t rank = rankOf(op);
    return schedule->ranks[rank].ops[op - first[rank]];
  }
};

/// The schedule outlives the table. `sizes` as in verify(). Messages of a schedule that cannot run
/// to its end have no rounds.
OpTable makeOpTable(const Schedule &schedule, const std::vector<Sizes> &sizes);

/// Adds kinds, peers, bytes, partners, rounds, places and dependencies; names begin with `prefix`.
/// Returns the places, in which the column of places has indices.
std::vector<SourceLoc> addOps(const OpTable &table, const std::string &prefix, Columns &columns);

/// Adds reads and writes of ops, buffers and contracts, from which a page traces bytes.
void addBytes(const OpTable &table, const std::vector<Sizes> &sizes, const std::string &prefix,
              Columns &columns);

} // namespace colldsl::show
