/// The transports of networks by their names. Internal to this folder.
#pragma once

#include "runtime/job/JobNetwork.h"
#include "transports/datagram/DatagramTransport.h"
#include "transports/ofi/OpenOfi.h"
#include "transports/tcp/TcpTransport.h"
#include "transports/verbs/OpenVerbs.h"
#include "wireup/NetworkSettings.h"

namespace colldsl {

inline NetworkSettings
settingsOf(const Network &network,
           NetworkSettings::From from = NetworkSettings::From::TextAndEnvironment) {
  return {network.name(), network.options, from};
}

/// Returns what `use` returns for the network: use(the options as the settings have them, a
/// function that opens it for a rank of so many).
template <typename Use>
auto withNetwork(const Network &network, NetworkSettings &settings, Use use) {
  switch (network.kind) {
  case NetworkKind::Datagram:
    return use(datagram::readOptions(settings),
               [](Rank rank, uint32_t, const datagram::Options &options) {
                 return datagram::open(rank, options);
               });
  case NetworkKind::Verbs:
    return use(verbs::readOptions(settings),
               [](Rank, uint32_t numRanks, const verbs::Options &options) {
                 return verbs::open(numRanks, options);
               });
  case NetworkKind::Tcp:
    return use(tcp::readOptions(settings),
               [](Rank, uint32_t, const tcp::Options &options) { return tcp::open(options); });
  case NetworkKind::Ofi:
    break;
  }
  return use(ofi::readOptions(settings),
             [](Rank, uint32_t, const ofi::Options &options) { return ofi::open(options); });
}

} // namespace colldsl
