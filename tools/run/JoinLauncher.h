/// A process that a launcher may have started.
#pragma once

#include "runtime/job/JobNetwork.h"
#include "wireup/Launcher.h"

namespace colldsl::tools {

/// The launcher of this process; null: there is none. If the launcher started others, too, the
/// process ends with it, and prints nothing unless it is the first rank.
Result<std::unique_ptr<Launcher>> joinLauncher();

/// The placement of the launcher's ranks, for Topology::make(); nothing if all are on one node.
/// Example: ranks 0 and 2 on one node, 1 and 3 on another: "node:2 core:2 bind=0,2,1,3".
/// Collective. `network` becomes that of the environment, unless it is used alone. An error, on all
/// ranks: the environment of a rank names no network, or another one than that of rank 0.
Result<std::optional<std::string>> nodesOf(Launcher &launcher, Network &network);

} // namespace colldsl::tools
