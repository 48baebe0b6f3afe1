/// A rank whose plans all go over one transport.
///
/// Its ranks open alone. Failures go to the peers of the plan and, along a tree, to all ranks.
#pragma once

#include "protocol/remote/RemoteEndpoint.h"
#include "transports/shm/World.h"

namespace colldsl::protocol {

/// Members that the base RemoteEndpoint refers to; they outlive it.
struct NetworkParts {
  std::unique_ptr<std::mutex> mutex; ///< of the worker
  std::unique_ptr<RemoteWorker> ownWorker;
};

class NetworkEndpoint final : NetworkParts, public RemoteEndpoint {
public:
  using MadeTransport = Result<std::unique_ptr<network::Transport>>;

  /// Makes the endpoint of one rank among `numRanks`; start() comes next. An error: there is no
  /// transport, or it cannot be used this way.
  static Result<std::unique_ptr<NetworkEndpoint>>
  make(Rank self, uint32_t numRanks, const network::Options &options, MadeTransport transport);

  /// The address at which others find this rank.
  const network::RankAddress &rankAddress() const { return ownWorker->rankAddress(); }
  /// Takes the addresses at which this rank finds others. Nothing is sent.
  Status start(network::Directory directory) { return ownWorker->start(std::move(directory)); }

  /// For tests: peers that it knows, bytes of memory for frames, and frames that it ignored.
  size_t numPeers() const;
  uint64_t frameBytes() const;
  uint64_t numRefused() const;

private:
  NetworkEndpoint(NetworkParts parts, RankGroup group);
};

/// Joins as one of the ranks that a bootstrap brings together. Waits for all others; if one cannot
/// come, none can, and all get the reason.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const network::Options &options,
                                         NetworkEndpoint::MadeTransport transport);

/// Joins as a rank of a world of this machine, which serves to find the others and for nothing
/// else.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank,
                                         const network::Options &options,
                                         NetworkEndpoint::MadeTransport transport);

} // namespace colldsl::protocol
