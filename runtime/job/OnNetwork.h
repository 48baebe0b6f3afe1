/// The network of a job as one rank sees it, for callers that reach other nodes in a way of their
/// own.
#pragma once

#include "runtime/job/WireUp.h"
#include "transports/network/Transport.h"

namespace colldsl {

struct OnNetwork {
  std::unique_ptr<network::Transport> transport;
  network::Options options;
};

/// The criterion by which a provider is chosen if COLLDSL_OFI_PROVIDER does not name one.
enum class WakeupPreference : uint8_t {
  Polling,  ///< few layers; sleeps are short naps
  Sleeping, ///< sleeps that an event ends
};

/// Opens the network, bound to the address that wireUp() would take. Collective. An error is one on
/// all ranks.
Result<OnNetwork> openNetwork(const Oob &oob, WakeupPreference wakeup);

} // namespace colldsl
