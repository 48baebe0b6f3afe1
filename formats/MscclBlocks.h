/// The threadblocks of one rank. Internal to formats.
#pragma once

#include "formats/MscclCollective.h"
#include "formats/MscclNodes.h"

namespace colldsl::msccl {

/// A threadblock before its steps are written.
struct BlockPlan {
  int32_t sendPeer = -1;
  int32_t recvPeer = -1;
  uint32_t channel = 0;
  std::vector<uint32_t> nodes; ///< in their order; joined sends are left out
};

/// The places of a rank's chunks in MSCCL's buffers.
class Placement {
public:
  Placement(const Schedule &schedule, const Signature &signature, const Nodes &nodes,
            uint32_t rank);
  Place place(const Range &range) const;
  uint64_t scratchChunks() const { return scratchChunks_; }

private:
  const Signature *signature_;
  std::vector<int64_t> scratch_; ///< per temporary: where its chunk 0 would lie
  uint64_t scratchChunks_ = 0;
};

/// Gives each connection of the rank a threadblock. A receive whose chunk is sent on is joined with
/// that send, if both connections carry only single chunks: channels are only sure to hold two of
/// those, and a step of several waits in the middle. Local steps go to the threadblock of the steps
/// that they wait for, or into threadblocks of their own.
std::vector<BlockPlan> planBlocks(const Schedule &schedule, Nodes &nodes, uint32_t rank);

/// Writes the steps, with a nop for each dependency on another threadblock beyond the
/// first. `placements` are of all ranks. An error: a limit.
Result<Gpu> writeBlocks(const Schedule &schedule, const Nodes &nodes, uint32_t rank,
                        const std::vector<BlockPlan> &plans,
                        const std::vector<Placement> &placements);

} // namespace colldsl::msccl
