/// The address of this rank on a network, and the exchange of the addresses of all.
#pragma once

#include "transports/network/ActiveMessages.h"
#include "transports/network/ProcessMonitor.h"
#include "wireup/Bootstrap.h"

namespace colldsl::network {

/// The address of this rank, and its monitor of peers.
struct LocalRank {
  RankAddress rankAddress;
  std::unique_ptr<ProcessMonitor> monitor;
};

/// Makes its address, and listens for the monitors of peers. Nothing is sent.
Result<LocalRank> openLocalRank(const Transport &transport, Rank self, const Options &options);

/// Exchanges the addresses of all ranks. Collective.
Result<Directory> exchangeAddresses(Bootstrap &bootstrap, const RankAddress &rankAddress,
                                    uint32_t numRanks);

/// Called in place of exchangeAddresses(): sends all others the reason why this rank cannot join.
void exchangeFailure(Bootstrap &bootstrap, uint32_t numRanks, std::string why);

/// The failure that an event means for `self`.
Fault faultOf(const ProcessMonitor::Event &event, Rank self);

} // namespace colldsl::network
