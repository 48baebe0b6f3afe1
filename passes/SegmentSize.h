/// Segment size: fills the hole `segment` of pipelined collectives. Small segments fill a
/// pipeline sooner, large ones cost fewer overheads. `model` takes the best power of two for a
/// pipeline as deep as a binary tree; `table` is 16 KiB below 2 MiB and 512 KiB from there;
/// `search` simulates the collective with each power of two. Levels
/// of a hierarchy are coupled segment by segment by the language itself, so one size serves all
/// of them.
///
/// example: bcast_tree of 1 MiB on 64 ranks, o = 1500, g = 1000, G = 6: 16 KiB
/// bound: O(log n) candidates
/// source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012,
/// chapters 3 and 5 (table); J. Pjesivac-Grbovic et al., "Performance analysis of MPI collective
/// operations", 2007 (model)
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct SegmentSize {
  enum class By : uint8_t { Model, Table, Search };
  By by = By::Search;
  uint64_t children = 2;

  void describe(PassOptions &options);
};

Result<HoleOutcome> chooseSegment(const HoleContext &context, const SegmentSize &options);

/// How long a message of so many bytes takes through a pipeline, in segments.
uint64_t pipelineNs(const LogGop &p, uint64_t bytes, uint64_t segment, uint64_t depth,
                    uint64_t children);

} // namespace colldsl
