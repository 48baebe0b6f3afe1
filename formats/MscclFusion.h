/// Finds the receives and reductions of a rank that are one step. Internal to formats.
#pragma once

#include "formats/MscclChunks.h"

namespace colldsl::msccl {

/// The fused pairs of one rank. Each op of a pair names the other.
struct Fusion {
  std::vector<OpId> combineOf; ///< per op: of a receive
  std::vector<OpId> recvOf;    ///< per op: of a combine
};

/// Finds the pairs of a receive and a combine that one step can do. The received data must pass
/// through a temporary in which no other op sees it; or it is added to before another op waits for
/// the receive.
Fusion fuseReductions(const Dag &dag, const Chunks &chunks);

} // namespace colldsl::msccl
