/// How a rank comes to be on a network, where others find it and it finds them.
#pragma once

#include "transports/network/ActiveMessages.h"
#include "transports/network/ProcessMonitor.h"
#include "wireup/Bootstrap.h"

namespace colldsl::network {

struct LocalRank {
  RankAddress rankAddress;
  std::unique_ptr<ProcessMonitor> monitor;
};

/// Where this rank is. Nothing is sent.
Result<LocalRank> appear(const Carrier &carrier, Rank self, const Options &options);

/// Collective: where all are.
Result<Directory> exchangeAddresses(Bootstrap &bootstrap, const RankAddress &rankAddress,
                                    uint32_t numRanks);

/// In its place, tells all others why this rank cannot come.
void exchangeFailure(Bootstrap &bootstrap, uint32_t numRanks, std::string why);

/// What is wrong with a rank that `self` watches.
Fault faultOf(const ProcessMonitor::Event &events, Rank self);

} // namespace colldsl::network
