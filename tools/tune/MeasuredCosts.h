/// What time costs between the ranks that take part: LogGOP for each distance class, copies,
/// reductions, the kernel's copy, and waking a rank that sleeps.
#pragma once

#include "tools/run/Launch.h"
#include "topology/MachineProfile.h"

namespace colldsl::tools {

/// Collective over what a launcher started, else forks so many ranks, two at least. Fills in the
/// model and the costs. Classes that no two ranks have get what the nearest one has. All is
/// measured until two measurements in a row differ by no more than `noiseLimit` (Noise.h); an
/// error: none do. Takes some seconds.
Status measureCosts(const Topology &topology, const LaunchOptions &options, double noiseLimit,
                    MachineProfile &profile);

} // namespace colldsl::tools
