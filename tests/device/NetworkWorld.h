/// Ranks of one process, each on a machine of its own, over the fake network.
#pragma once

#include "protocol/remote/NetworkEndpoint.h"
#include "tests/device/FakeNetwork.h"
#include "tests/transports/Harness.h"

namespace colldsl::test {

class NetworkWorld {
public:
  /// Longer messages than so many bytes are not eager.
  static constexpr uint32_t kEagerBytes = 16;

  /// `lingers`: of the ranks, how long they wait for others after a failure; the rest 5 s.
  NetworkWorld(uint32_t numRanks, const FakeNetworkOptions &options,
               const std::vector<std::chrono::milliseconds> &lingers = {})
      : network(numRanks, options) {
    network::Options protocol;
    protocol.longestEagerBytes = protocol.rmaThresholdBytes = kEagerBytes;
    std::vector<network::RankAddress> addresses;
    for (uint32_t r = 0; r < numRanks; ++r) {
      if (r < lingers.size())
        protocol.linger = protocol.lingerAfterFailure = lingers[r];
      endpoints_.push_back(
          protocol::NetworkEndpoint::make(Rank{r}, numRanks, protocol, network.open(Rank{r}))
              .take());
      addresses.push_back(endpoints_.back()->rankAddress());
    }
    for (auto &endpoint : endpoints_)
      (void)endpoint->start(
          [addresses](Rank r) -> Result<network::RankAddress> { return addresses[index(r)]; });
  }

  /// The endpoint of a rank, once. Those of all ranks are destroyed at the same time, by threads of
  /// their own.
  std::unique_ptr<Endpoint> attach(Rank rank) { return std::move(endpoints_[index(rank)]); }

  FakeNetwork network;

private:
  std::vector<std::unique_ptr<protocol::NetworkEndpoint>> endpoints_;
};

} // namespace colldsl::test
