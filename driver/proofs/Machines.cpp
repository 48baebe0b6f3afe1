#include "driver/proofs/Machines.h"

namespace colldsl::driver {
namespace {

/// A machine of that shape with just enough cores in each part.
/// Example: 5 ranks, 2 nodes of 2 packages: "node:2 package:2 core:2", 4 ranks and 1.
TrialMachine filled(const std::string &shape, uint32_t parts, uint32_t ranks,
                    const std::string &binding = "") {
  uint32_t cores = (ranks + parts - 1) / parts;
  return {shape + " core:" + std::to_string(cores) + binding, shape + binding};
}

} // namespace

std::vector<TrialMachine> trialMachines(uint32_t ranks, bool thorough) {
  const std::string cyclic = " bind=scatter";
  uint32_t nodes = ranks < 5 ? 2 : 3;
  TrialMachine flat{"flat", "flat"};
  TrialMachine spread =
      filled("node:" + std::to_string(nodes) + " package:2", nodes * 2, ranks, cyclic);
  std::vector<TrialMachine> machines{flat,
                                     {"node:" + std::to_string(ranks), "node:P"},
                                     filled("node:2 package:2", 4, ranks),
                                     spread,
                                     filled("node:3 board:2 package:2 numa:2", 24, ranks)};
  flat.highestLead = spread.highestLead = true;
  machines.insert(machines.end(), {flat, spread});
  if (!thorough)
    return machines;
  std::vector<TrialMachine> more{filled("package:2", 2, ranks, cyclic),
                                 filled("node:2", 2, ranks, cyclic),
                                 filled("node:3", 3, ranks),
                                 filled("node:4 package:3", 12, ranks, cyclic),
                                 filled("node:2 numa:2 package:2", 8, ranks),
                                 filled("node:2 board:2 package:2 numa:2", 16, ranks, cyclic)};
  for (TrialMachine &machine : more) {
    machines.push_back(machine);
    machine.highestLead = true;
    machines.push_back(machine);
  }
  return machines;
}

std::string familyOf(const std::string &topology, uint32_t ranks) {
  for (const TrialMachine &machine : trialMachines(ranks, true))
    if (machine.topology == topology)
      return machine.family;
  return topology;
}

} // namespace colldsl::driver
