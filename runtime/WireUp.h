/// How processes that a launcher started, not a fork of ours, become the ranks of a job: over the
/// out-of-band collectives of that launcher. Those of a node share its memory, those of several
/// reach each other over libfabric.
#pragma once

#include "topology/Topology.h"
#include "transports/shm/World.h"
#include "wireup/Oob.h"

namespace colldsl {

struct WiredUp {
  std::unique_ptr<shm::World> world;            ///< of this node; null: the network is used alone
  std::vector<std::unique_ptr<Endpoint>> parts; ///< that the endpoint is made of, if it is
  std::unique_ptr<Endpoint> endpoint;           ///< destroyed first
  std::vector<uint32_t> nodes;                  ///< per rank: the first rank of its node
  std::vector<uint32_t> pus; ///< per rank of this node: the hardware thread it is taken to run on
  uint64_t profile = 0;      ///< that of wireUp(), if it is the same on all ranks, else 0
};

/// Collective. The memory that the ranks share, in which all have told their process ids; no
/// endpoint. Refuses ranks that disagree about their number or cannot share memory,
/// on all ranks and for the same reason. Leaves nothing behind, on any outcome.
Result<WiredUp> shareMemory(const Oob &oob, const shm::Options &options);

/// Which transports carry the messages.
enum class Transports : uint8_t {
  All,       ///< within a node memory, elsewhere the network
  Ofi,       ///< over libfabric alone
  Datagrams, ///< over datagrams alone
  Verbs,     ///< over an RDMA device alone
};

/// Collective: this rank, connected to all others. On one node that is the endpoint of its memory.
/// `own`, if it is an error, is one on all ranks. `profile`: a hash of this rank's machine profile,
/// 0: it has none.
///
/// From the environment: COLLDSL_RANKS_PER_NODE of rank 0, so many ranks in a row are a node at
/// most; what optionsFromEnvironment() of ofi, datagram or verbs takes. Without COLLDSL_OFI_BIND,
/// COLLDSL_DATAGRAM_BIND or COLLDSL_VERBS_BIND a rank is bound to loopback, if all are on one host,
/// or to the address from which it reaches reachableAddress().
Result<WiredUp> wireUp(const Oob &oob, const shm::Options &options, const Status &own = {},
                       Transports transports = Transports::All, uint64_t profile = 0);

/// Collective, if there are several nodes: where the ranks sit, which of their machines they find
/// out each for itself.
Result<Topology> findPlaces(const Oob &oob, const WiredUp &wired);

} // namespace colldsl
