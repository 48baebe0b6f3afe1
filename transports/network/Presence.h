/// How a rank comes to be on a network, where others find it and it finds them.
#pragma once

#include "transports/network/Mail.h"
#include "transports/network/Watch.h"
#include "wireup/Bootstrap.h"

namespace colldsl::network {

struct Presence {
  Card card;
  std::unique_ptr<Watch> watch;
};

/// Where this rank is. Nothing is sent.
Result<Presence> appear(const Carrier &carrier, Rank self, const Options &options);

/// Collective: where all are.
Result<Directory> showCards(Bootstrap &bootstrap, const Card &card, uint32_t numRanks);

/// In its place, tells all others why this rank cannot come.
void missCards(Bootstrap &bootstrap, uint32_t numRanks, std::string why);

/// What is wrong with a rank that `self` watches.
Fault faultOf(const Watch::News &news, Rank self);

} // namespace colldsl::network
