/// Sends messages over other ranks: each gets a path, and messages that go the same way in the same
/// step are joined to one. All passes that relay or combine messages use it.
///
/// A message may be rerouted if its send and its receive wait for local ops alone, and its bytes
/// are known when buffers are bound. So no rank on a path waits for an op that waits for that
/// rank, and no path can close a cycle.
#pragma once

#include "passes/MessageEnds.h"

namespace colldsl {

/// The messages that may be rerouted, as indices into `messages`. Messages to oneself, and messages
/// whose bytes are not known, are not among them.
std::vector<uint32_t> reroutable(const Schedule &schedule,
                                 const std::vector<MessageEnds> &messages);

/// For each chosen message, the first one that carries the same bytes of the same rank: one copy
/// on a way serves all that go there. Two messages to one rank are never the same.
std::vector<uint32_t> samePayloads(const Schedule &schedule,
                                   const std::vector<MessageEnds> &messages,
                                   const std::vector<uint32_t> &chosen);

/// The way of one message. ranks[0] sends it, ranks.back() receives it; steps[i] is when
/// it goes from ranks[i] to ranks[i + 1], and ascends. Two messages that go between the same ranks
/// in the same step go together.
struct MessagePath {
  uint32_t message = 0; ///< index into the messages
  uint32_t payload = 0; ///< as samePayloads() numbers them
  std::vector<Rank> ranks;
  std::vector<uint32_t> steps;
};

/// Sends every path's message along its path; its receiver gets it into the same place as before.
Result<Schedule> reroute(const Schedule &schedule, const std::vector<MessageEnds> &messages,
                         const std::vector<MessagePath> &paths);

} // namespace colldsl
