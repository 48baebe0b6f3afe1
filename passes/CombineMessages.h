/// Message combining: fewer, larger messages. `pair`: all messages between the same two ranks
/// become one. `node`: one rank of a node gathers all messages to another node and sends them as
/// one; one rank of the other node hands them out. These leaders are others for each pair of nodes
/// (`spread`), or the ranks that most of the messages come from or go to (`busiest`), which takes
/// fewer steps and more of their time. `dimension`: on a Cartesian grid blocks travel dimension by
/// dimension, together with all others that go the same way.
///
/// example: an alltoall on a 4 x 4 torus to all 8 neighbors around takes 8 messages per rank,
/// combined along dimensions 4
/// bound: E log E; the volume grows by at most the number of hops
/// source: J. L. Traeff, A. Carpen-Amarie, S. Hunold, A. Rougier, "Message-combining algorithms for
/// isomorphic, sparse collective communication", 2016; A. Bienz et al., "MPI Advance", 2023
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct CombineMessages {
  enum class By : uint8_t { Pair, Node, Dimension };
  enum class Leaders : uint8_t { Spread, Busiest };
  By by = By::Pair;
  Leaders leaders = Leaders::Spread;
  std::vector<uint32_t> dims;

  void describe(PassOptions &options);
};

Result<DagOutcome> combineMessages(Schedule schedule, const CombineMessages &options,
                                   const DagContext &context);

} // namespace colldsl
