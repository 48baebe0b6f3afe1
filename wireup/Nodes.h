/// Nodes: the ranks that share memory, a host or a machine.
#pragma once

#include "wireup/ProcessInfo.h"

namespace colldsl {

/// Collective: by rank, the first one that it can share memory with. Ranks see each other's memory
/// if they are on one machine and in one namespace of processes.
Result<std::vector<uint32_t>> whoSharesMemory(const Oob &oob);

/// Collective: the number of ranks of this machine, those in other namespaces included.
Result<uint32_t> countOnMachine(const Oob &oob);

/// Collective: by rank, the first one of its node, as COLLDSL_RANKS_PER_NODE of rank 0 has it. All
/// ranks get an error if one has an error of its own, or they have other networks than each other.
Result<std::vector<uint32_t>> findNodes(const Oob &oob, const Status &own,
                                        std::string_view network);

/// The ranks of the node of `rank`, ascending.
std::vector<uint32_t> ranksOfNode(std::span<const uint32_t> nodes, uint32_t rank);

bool isOneNode(std::span<const uint32_t> nodes);

} // namespace colldsl
