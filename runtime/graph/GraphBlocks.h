/// The blocks of an exchange along a graph: passes see each as some units of n bytes, so that they
/// count with lengths that differ; a plan has whole blocks, whose lengths travel along.
///
///   written      a rank sends blocks of 1, 3 and 2 units: units 0, 1..3, 4..5 of its buffer
///   after passes a relay has them in a buffer of its own, in another order
///   withLengths  blocks 0, 1 and 2 there, of at most n bytes each (Layout::Capacity)
#pragma once

#include "ir/Schedule.h"

namespace colldsl {

/// By rank and block: its units.
using UnitLists = std::vector<std::vector<uint32_t>>;

/// Changes a schedule of blocks of one unit: those of buffer 0 have the units of `sent`, those of
/// buffer 1 the units of `received`. Messages hold whole blocks, and there are no other buffers.
void stretch(Schedule &schedule, const UnitLists &sent, const UnitLists &received);

/// The places where blocks begin, in all buffers of all ranks.
class GraphBlocks {
public:
  /// Follows the blocks of buffer 0, which have the units of `sent`, along all messages and copies
  /// of the schedule. An error: some op does not move whole blocks.
  static Result<GraphBlocks> follow(const Schedule &schedule, const UnitLists &sent);

  /// The most blocks that a rank has in all its buffers.
  uint64_t mostOfRank() const;
  /// The DAG of the rank with blocks whose lengths travel along: n is the capacity of each.
  Dag withLengths(const Schedule &schedule, Rank rank) const;

private:
  enum class Unit : uint8_t { Unknown, First, Further };
  /// The units of one rank, by buffer.
  using Units = std::vector<std::vector<Unit>>;
  struct Move;

  bool move(const Schedule &schedule, const Move &move);
  bool areWhole(const Dag &dag, const Units &units) const;

  std::vector<Units> ranks_;
};

} // namespace colldsl
