/// The steps that the ops of a schedule become, before they have a threadblock. Internal
/// to formats.
#pragma once

#include "formats/Msccl.h"
#include "formats/MscclChunks.h"

#include <vector>

namespace colldsl::msccl {

/// A step, or one that is going to be a part of another. One op becomes a chain of them,
/// if its chunks do not lie in one piece or are too many for one step.
struct Node {
  StepKind kind = StepKind::Nop;
  uint32_t rank = 0;
  OpId op = kNoOp;
  Range source; ///< the chunks that it reads here
  Range target; ///< the chunks that it writes here
  uint32_t count = 0;
  uint32_t event = 0;          ///< both ends of a message have one
  uint32_t partner = kNoNode;  ///< messages: the other end
  uint32_t message = 0;        ///< messages: which of its pair of ranks, in the sender's order
  uint32_t channel = 0;        ///< messages
  std::vector<uint32_t> waits; ///< nodes of the same rank
  uint32_t level = 0;          ///< see MscclOrder.h
  uint32_t joined = kNoNode;   ///< a receive that sends on at once, and its send: the other
  bool isStored = true;        ///< false: only its send needs the received data

  static constexpr uint32_t kNoNode = UINT32_MAX;
  bool isJoinedSend() const { return kind == StepKind::Send && joined != kNoNode; }
};

struct Nodes {
  std::vector<Node> nodes;                    ///< the nodes of an op one behind the other
  std::vector<std::vector<uint32_t>> perRank; ///< in the order of the ops
  uint32_t events = 0;

  const Node &operator[](uint32_t i) const { return nodes[i]; }
  Node &operator[](uint32_t i) { return nodes[i]; }
};

/// Makes nodes of all ops. With `fuses` a receive and the reduction of its data are one node, if no
/// other op sees the data. An error is one of those of fromSchedule().
Result<Nodes> makeNodes(const Schedule &schedule, const Chunks &chunks, bool fuses);

/// "rank 3, op l12: MSCCL XML cannot say why", with the op's place.
Status refuseOp(const Schedule &schedule, uint32_t rank, OpId op, std::string_view why,
                std::string_view hint = {});

} // namespace colldsl::msccl
