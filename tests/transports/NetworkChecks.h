/// What every transport over a network does alike.
#pragma once

#include "tests/transports/NetworkPair.h"

namespace colldsl::test {

/// A rank that is killed is named on all others, with the op that waits for it, also where they
/// have no messages with it.
void expectThatKilledRanksAreNoticed(const Attach &attach);

/// Peers and frames of a rank with 8 edges are as many among 4096 ranks as among 16. `make` is told
/// how many there are, and of endpoints that do not linger.
void expectThatMemoryFollowsEdges(
    const std::function<Result<std::unique_ptr<protocol::NetworkEndpoint>>(Rank, uint32_t)> &make);

} // namespace colldsl::test
