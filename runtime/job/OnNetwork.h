/// The network of a job as one rank sees it, for callers that reach other nodes in a way of their
/// own.
#pragma once

#include "runtime/job/WireUp.h"
#include "transports/network/Transport.h"

namespace colldsl {

struct OnNetwork {
  std::unique_ptr<network::Transport> transport;
  network::Options options; ///< `flushes` is set, because the callers move messages in calls alone
};

/// The criterion by which a provider of libfabric is chosen if none is named.
enum class WakeupPreference : uint8_t {
  Polling,  ///< few layers; sleeps are short naps
  Sleeping, ///< sleeps that an event ends
};

/// Opens the network, bound to the address that wireUp() would take. Collective. An error is one on
/// all ranks; the networks of all ranks are compared as by wireUp().
Result<OnNetwork> openNetwork(const Oob &oob, const Network &network, WakeupPreference wakeup);

} // namespace colldsl
