// Most of the time that it takes to open the transport is spent before its first call returns. With
// libfabric 1.17 these are 200 ms in the constructor of libinfinipath, which measures the clock,
// and 70 ms in fi_getinfo(), whose provider verbs reads /proc/kallsyms twice, whichever provider
// was asked for.
#include "transports/ofi/Libfabric.h"
#include "transports/ofi/OpenOfi.h"
#include "transports/ofi/RdmEndpoint.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace colldsl::ofi {
namespace {

/// The first layer of the provider: `tcp` means `tcp;ofi_rxm` if it has no reliable datagrams of
/// its own.
std::string_view firstLayer(const Options &options) {
  std::string_view name = options.provider;
  return name.substr(0, name.find(';'));
}

/// True if the provider runs on sockets: it holds no device that a process must not share with one
/// that it forks.
bool runsOnSockets(std::string_view provider) {
  static constexpr std::array<std::string_view, 4> kSockets = {"tcp", "net", "sockets", "udp"};
  return std::find(kSockets.begin(), kSockets.end(), provider) != kSockets.end();
}

/// The buffers of 16 KiB that ofi_rxm posts for all peers of an endpoint over tcp; it writes to all
/// of them first. Its default is 4,096, which takes 64 MiB and 25 ms.
constexpr const char *kPostedByRxm = "256";

} // namespace

std::future<void> prepare(const Options &options) {
  Library::setDefaults();
  if (firstLayer(options) == "tcp")
    setenv("FI_OFI_RXM_MSG_RX_SIZE", kPostedByRxm, false);
  // If no thread can be made, the caller that waits for the future does the work.
  return std::async(std::launch::async | std::launch::deferred, [options] {
    if (Library::load() && runsOnSockets(firstLayer(options)))
      RdmEndpoint::findProviders(options);
  });
}

} // namespace colldsl::ofi
