/// Makes the ranks of a job from processes that a launcher started, not a fork of this library:
/// over the out-of-band collectives of that launcher. Ranks of one node share its memory; ranks of
/// several nodes reach each other over a network.
#pragma once

#include "protocol/Endpoint.h"
#include "runtime/job/JobNetwork.h"
#include "topology/Topology.h"
#include "transports/shm/World.h"
#include "wireup/Oob.h"

namespace colldsl {

struct WiredUp {
  std::unique_ptr<shm::World> world;            ///< of this node; null: the network is used alone
  std::vector<std::unique_ptr<Endpoint>> parts; ///< parts of the endpoint, if it has any
  std::unique_ptr<Endpoint> endpoint;           ///< destroyed first
  std::vector<uint32_t> nodes;                  ///< per rank: the first rank of its node
  std::vector<uint32_t> pus; ///< per rank of this node: its assumed hardware thread
  uint64_t profile = 0;      ///< as given to wireUp(), if it is the same on all ranks, else 0
};

/// Collective. Makes the memory that the ranks share, in which all have announced their process
/// ids; no endpoint. Refuses ranks that disagree about their number or cannot share memory, on all
/// ranks and for the same reason. Leaves nothing behind, on any outcome.
Result<WiredUp> shareMemory(const Oob &oob, const shm::Options &options);

/// Collective: connects this rank to all others. On one node the endpoint is that of its memory,
/// unless Network::isAlone. `network`, `own`: if one is an error, all ranks get an error; so they
/// do if they have other networks, other providers of libfabric, or multicast on some ranks only.
/// `profile`: a hash of this rank's machine profile, 0: it has none.
///
/// From the environment: COLLDSL_RANKS_PER_NODE of rank 0, the most consecutive ranks of a node;
/// options that the network's text does not give (NetworkSettings). Without the option `bind` a
/// rank is bound to loopback, if all are on one host, or to the address from which it reaches
/// reachableAddress().
Result<WiredUp> wireUp(const Oob &oob, const shm::Options &options, const Result<Network> &network,
                       const Status &own = {}, uint64_t profile = 0);

/// The places of the ranks; each rank finds its own machine's part. Collective, if there are
/// several nodes.
Result<Topology> findPlaces(const Oob &oob, const WiredUp &wired);

} // namespace colldsl
