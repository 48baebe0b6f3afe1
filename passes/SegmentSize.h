/// Segment size: binds the tuning parameters of pipelined collectives that are sizes of segments:
/// parameters of the kind `bytes` with candidates, under any name. Small segments fill a
/// pipeline sooner, large ones cost fewer overheads. `model` takes the best candidate for a
/// pipeline as deep as a binary tree; `table` the one next to 16 KiB below 2 MiB, and to 512 KiB
/// from there; `search` simulates the collective with each. Of an interval the powers of two from 1
/// KiB on are candidates. The language itself couples levels of a hierarchy segment by segment, so
/// one size serves all of them.
///
/// example: bcast_tree of 1 MiB on 64 ranks, o = 1500, g = 1000, G = 6: 16 KiB
/// bound: one evaluation for each candidate, at most 17 of an interval
/// source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012, chapters
/// 3 and 5 (table); J. Pjesivac-Grbovic et al., "Performance analysis of MPI collective
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

Result<BindOutcome> chooseSegment(const BindContext &context, const SegmentSize &options);

/// The time in ns that a message of so many bytes takes through a pipeline, in segments.
uint64_t pipelineNs(const LogGop &p, uint64_t bytes, uint64_t segment, uint64_t depth,
                    uint64_t children);

} // namespace colldsl
