/// The networks by their names. Internal to this folder.
#pragma once

#include "runtime/job/WireUp.h"
#include "transports/datagram/DatagramCarrier.h"
#include "transports/ofi/OpenOfi.h"
#include "transports/verbs/OpenVerbs.h"

namespace colldsl {

/// Returns what `use` returns for the network: use(the variable with the address to bind to, the
/// options from the environment, a function that opens it for a rank of so many).
template <typename Use> auto withNetwork(Transports transports, Use use) {
  switch (transports) {
  case Transports::Datagrams:
    return use("COLLDSL_DATAGRAM_BIND", datagram::optionsFromEnvironment(),
               [](Rank rank, uint32_t, const datagram::Options &options) {
                 return datagram::open(rank, options);
               });
  case Transports::Verbs:
    return use("COLLDSL_VERBS_BIND", verbs::optionsFromEnvironment(),
               [](Rank, uint32_t numRanks, const verbs::Options &options) {
                 return verbs::open(numRanks, options);
               });
  case Transports::All:
  case Transports::Ofi:
    break;
  }
  return use("COLLDSL_OFI_BIND", ofi::optionsFromEnvironment(),
             [](Rank, uint32_t, const ofi::Options &options) { return ofi::open(options); });
}

} // namespace colldsl
