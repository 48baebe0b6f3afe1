/// A graph of which each rank knows its own edges, made known to all.
#pragma once

#include "instantiate/GivenValue.h"
#include "runtime/Communicator.h"

namespace colldsl {

/// Collective. `own`: the edges of this rank. The result holds those of all ranks.
Result<GivenGraph> gatherGraph(Communicator &communicator, const GivenGraph &own);

} // namespace colldsl
