/// The machines on which a collective is proved that looks at where its ranks sit, and which ranks
/// lead their groups there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace colldsl::tools {

struct TrialMachine {
  std::string topology;     ///< as --topology takes it
  std::string family;       ///< the same without the cores that so many ranks need, for summaries
  bool highestLead = false; ///< rather than the lowest ranks
};

/// One node first, then a node per rank; nodes of sockets and cores, filled one after the other,
/// the last one in part, and with ranks spread cyclically; one that has all levels; and some of
/// these again, for other leaders. Several may be the same for few ranks. `thorough`: more of them.
std::vector<TrialMachine> trialMachines(uint32_t ranks, bool thorough);

/// The family of one of them; what is none of them is its own.
std::string familyOf(const std::string &topology, uint32_t ranks);

} // namespace colldsl::tools
