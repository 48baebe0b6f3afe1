/// Gathers a graph of which each rank knows its own edges.
#pragma once

#include "instantiate/ArgumentValue.h"
#include "runtime/job/Communicator.h"

namespace colldsl {

/// Collective. `own`: the edges of this rank. The result has those of all ranks.
Result<GivenGraph> gatherGraph(Communicator &communicator, const GivenGraph &own);

} // namespace colldsl
