/// The blocks of an exchange along a graph: passes see each as some units of n bytes, so that they
/// count with lengths that differ; a plan has whole blocks, whose lengths travel along.
///
///   written      a rank sends blocks of 1, 3 and 2 units: units 0, 1..3, 4..5 of its buffer
///   after passes a relay has each in a buffer of its own
///   withLengths  blocks 0, 1 and 2, and a block in each buffer of the relay, of at most n bytes
#pragma once

#include "ir/Schedule.h"

namespace colldsl {

/// By block: its units.
using UnitList = std::vector<uint32_t>;

/// The blocks of one rank.
struct GraphBlocks {
  UnitList sent, received; ///< of buffers 0 and 1

  uint64_t count(const Dag &dag) const {
    return sent.size() + received.size() + dag.buffers.size() - 2;
  }
};

/// Changes a DAG of blocks of one unit to those blocks. It has no other buffers.
void stretch(Dag &dag, const GraphBlocks &blocks);

/// Copies a DAG of stretch() after passes, with blocks whose lengths travel along
/// (Layout::Capacity): n is the room of each. Every slice is one block, and in buffers of passes
/// the only one; else there is an error.
Result<Dag> withLengths(const Dag &dag, const GraphBlocks &blocks);

} // namespace colldsl
