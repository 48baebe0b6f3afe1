/// Offers: when a plan is opened, the two ends of every edge send each other theirs, and compare
/// them.
#pragma once

#include "protocol/Endpoint.h"
#include "wireup/Bootstrap.h"

namespace colldsl::protocol {

/// The edges between two ranks as one of them describes them to the other.
struct EdgeOffer {
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t numSends = kNone;    ///< messages on the edge to the other
  uint64_t sendHash = 0;        ///< of their ids
  uint64_t numReceives = kNone; ///< messages on the edge from the other
  uint64_t receiveHash = 0;
  uint64_t termsHash = 0;
};

/// Data for each peer that some edge leads to or comes from, sorted.
std::vector<BootstrapData> makeOffers(const OpenRequest &request);

/// Reads an offer; it is one without edges if the peer sent none.
EdgeOffer readOffer(const BootstrapData &data);

/// Compares the two views of the edges between `self` and `peer`, and the hashes of their terms.
Status compareOffers(Rank self, const EdgeOffer &own, Rank peer, const EdgeOffer &theirs);

} // namespace colldsl::protocol
