/// The machines, and the leaders of their groups, for proofs of a collective that depends on the
/// placement of its ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace colldsl::driver {

struct TrialMachine {
  std::string topology;     ///< as --topology takes it
  std::string family;       ///< `topology` without numbers of ranks or cores, for summaries
  bool highestLead = false; ///< rather than the lowest ranks
};

/// One node first, then a node per rank; nodes of sockets and cores, filled one after the other
/// with the last one in part, and with ranks spread cyclically; one machine with all levels; and
/// some of these again, with other leaders. For few ranks, some may coincide. `thorough`: more
/// machines, one of them with nodes whose ranks are interleaved.
std::vector<TrialMachine> trialMachines(uint32_t ranks, bool thorough);

/// The family of one of trialMachines(); any other topology is its own family.
std::string familyOf(const std::string &topology, uint32_t ranks);

} // namespace colldsl::driver
