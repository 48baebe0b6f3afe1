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

/// Two nodes whose ranks alternate, in pairs that begin with either in turn: the order of nodes, by
/// their k-th rank, depends on k.
/// Example: 6 ranks on nodes a, b, b, a, a, b: "node:2 core:3 bind=0,3,4,1,2,5".
TrialMachine interleaved(uint32_t ranks) {
  uint32_t cores = (ranks + 1) / 2;
  std::string binding;
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t pair = r / 2, node = (r + pair) % 2;
    binding += (r == 0 ? " bind=" : ",") + std::to_string(node * cores + pair);
  }
  return {"node:2 core:" + std::to_string(cores) + binding, "node:2 bind=0,P/2,P/2+1,1,..."};
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
                                 filled("node:2 board:2 package:2 numa:2", 16, ranks, cyclic),
                                 interleaved(ranks)};
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
