/// Which receives and reductions of a rank are one step. Internal to formats.
#pragma once

#include "formats/MscclChunks.h"

namespace colldsl::msccl {

/// Of one rank. Each of a pair that is fused names the other.
struct Fusion {
  std::vector<OpId> combineOf; ///< per op: of a receive
  std::vector<OpId> recvOf;    ///< per op: of a combine
};

/// Finds the pairs of a receive and a combine that one step can do: the step takes what came
/// out of a temporary in which no other op sees it, or adds to it before another op waits for
/// the receive.
Fusion fuseReductions(const Dag &dag, const Chunks &chunks);

} // namespace colldsl::msccl
