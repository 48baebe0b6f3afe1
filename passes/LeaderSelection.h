/// Leader selection: chooses the leader and the second leader of each node, board, socket and NUMA
/// node of a program. A rank that the program demands (`leaders(node, include = root)`) leads in
/// any case.
///
/// example: network interface at NUMA node 1: the leader of a node is the first core of NUMA node
/// 1, the second leader the next core there
/// bound: P log P
/// source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012, chapter
/// 5
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct LeaderSelection {
  enum class By : uint8_t { Core, Nic, Load };
  By by = By::Core;
  std::vector<uint32_t> nic{0};
  std::vector<uint32_t> load;

  void describe(PassOptions &options);
};

/// The order in which ranks lead, at all levels.
LeaderOrder orderLeaders(const Topology &topology, const LeaderSelection &options);

Result<BindOutcome> selectLeaders(const BindContext &context, const LeaderSelection &options);

} // namespace colldsl
