/// Measured costs between the participating ranks: LogGOP for each distance class, copies,
/// reductions, the kernel's copy, and waking a sleeping rank.
#pragma once

#include "tools/run/Launch.h"
#include "topology/MachineProfile.h"

namespace colldsl::tools {

/// Collective over the ranks that a launcher started, else forks the ranks of the topology, two at
/// least. Fills in the model and the costs. A distance class without a pair of ranks gets the costs
/// of the nearest class. It measures until two measurements in a row differ by no more than
/// `noiseLimit` (TimingNoise.h); an error: none do. Takes some seconds.
Status measureCosts(const Topology &topology, const LaunchOptions &options, double noiseLimit,
                    MachineProfile &profile);

} // namespace colldsl::tools
