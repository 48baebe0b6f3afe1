/// The facts about a communicator that all its ranks know alike, and the place of this rank among
/// its neighbours.
#pragma once

#include "mpi/comm/CommTopology.h"

namespace colldsl::mpi {

/// A communicator and its duplicates share one.
struct CommFacts {
  /// The calls that all ranks can serve, by what this rank knows. Processes of another job have
  /// contexts of their own.
  CommFacts(CommRanks ofComm, CommTopology topologyOfComm)
      : ranks(std::move(ofComm)), topology(std::move(topologyOfComm)), servesAll(ranks.areOfJob()),
        servesNeighbors(servesAll && topology.hasNeighbors()) {}

  CommRanks ranks;
  CommTopology topology;
  bool servesAll;             ///< calls of all ranks
  bool servesNeighbors;       ///< calls along the topology
  bool mayUseDevices = false; ///< DeviceAgreement::mayUseDevices()
};

} // namespace colldsl::mpi
