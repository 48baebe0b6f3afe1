#include "runtime/job/JobNetwork.h"

#include "ir/Concat.h"
#include "runtime/job/EachNetwork.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr const char *kVariable = "COLLDSL_NETWORK";

std::string allNames() {
  std::string names;
  for (std::string_view name : kNetworkNames)
    names += concat(names.empty() ? "" : ", ", name);
  return names;
}

// The options that all ranks have alike, in words.

std::string sharedOptions(const ofi::Options &options) {
  return concat("{provider=", options.provider, "}");
}
std::string sharedOptions(const verbs::Options &) { return ""; }
std::string sharedOptions(const tcp::Options &) { return ""; }
std::string sharedOptions(const datagram::Options &options) {
  return concat("{multicast=", options.multicast ? 1 : 0, "}");
}

} // namespace

Result<Network> Network::parse(std::string_view text) {
  std::string_view name = text.substr(0, text.find('{'));
  const auto *known = std::find(kNetworkNames.begin(), kNetworkNames.end(), name);
  if (known == kNetworkNames.end())
    return Status::error(concat("there is no network '", name, "'; there are ", allNames(),
                                ", and for MPI programs ", kMpiBelow));
  Network network;
  network.kind = static_cast<NetworkKind>(known - kNetworkNames.begin());
  std::string_view rest = text.substr(name.size());
  if (!rest.empty() && rest.back() != '}')
    return Status::error(concat("'", text, "': the options of the network do not end with '}'"));
  network.options = rest.empty() ? "" : rest.substr(1, rest.size() - 2);
  NetworkSettings settings = settingsOf(network, NetworkSettings::From::TextAlone);
  Status s = withNetwork(network, settings, [&](const auto &options, auto) {
    return options ? settings.checkGiven() : options.status();
  });
  if (!s)
    return s;
  return network;
}

Result<std::optional<Network>> Network::parseForMpi(std::string_view text) {
  if (text == kMpiBelow)
    return std::optional<Network>();
  Result<Network> network = parse(text);
  if (!network)
    return network.status();
  return std::optional(network.take());
}

// An MPI program may make communicators of the C API, too.
Result<Network> Network::fromEnvironment() {
  const char *given = setting(kVariable);
  if (!given || given == kMpiBelow)
    return Network();
  Result<Network> network = parse(given);
  return network ? network : Status::error(concat(kVariable, ": ", network.message()));
}

// To load libfabric takes a rank 0.3 s, which TCP does not need (docs/design/mpi-calls.md).
Network Network::unnamedForMpi() {
  Network libfabric;
  NetworkSettings settings = settingsOf(libfabric);
  for (const char *option :
       {"COLLDSL_OFI_PROVIDER", "COLLDSL_OFI_DOMAIN", "COLLDSL_OFI_BIND", "COLLDSL_OFI_DEVICES"})
    if (settings.has(option))
      return libfabric;
  Network network;
  network.kind = NetworkKind::Tcp;
  return network;
}

// Options that are wrong are reported where the network is opened.
std::string Network::inWords() const {
  NetworkSettings settings = settingsOf(*this);
  std::string shared = withNetwork(*this, settings, [](const auto &options, auto) {
    return options ? sharedOptions(*options) : std::string();
  });
  return concat(name(), shared, isAlone ? " alone" : "");
}

bool Network::hasMulticast() const {
  NetworkSettings settings = settingsOf(*this);
  Result<datagram::Options> options = datagram::readOptions(settings);
  return kind == NetworkKind::Datagram && options && options->multicast;
}

bool Network::isHere() const {
  NetworkSettings settings = settingsOf(*this);
  switch (kind) {
  case NetworkKind::Ofi:
    return ofi::isLoadable();
  case NetworkKind::Verbs: {
    Result<verbs::Options> options = verbs::readOptions(settings);
    return options && verbs::whyNot(*options).empty();
  }
  case NetworkKind::Datagram:
  case NetworkKind::Tcp:
    return true;
  }
  return false;
}

} // namespace colldsl
