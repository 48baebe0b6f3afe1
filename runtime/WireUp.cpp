#include "runtime/WireUp.h"

#include "ir/Concat.h"
#include "runtime/Meeting.h"
#include "runtime/OnNetwork.h"
#include "runtime/OutOfBandBootstrap.h"
#include "transports/datagram/Attach.h"
#include "transports/lanes/LaneEndpoint.h"
#include "transports/ofi/Attach.h"
#include "transports/routed/RoutedEndpoint.h"
#include "transports/shm/Attach.h"
#include "transports/verbs/Attach.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace colldsl {
namespace {

constexpr uint8_t kMemory = 0, kNetwork = 1; // parts

Status readRanksPerNode(uint32_t &number) {
  const char *text = network::setting("COLLDSL_RANKS_PER_NODE");
  if (!text)
    return {};
  const char *end = text + std::strlen(text);
  auto [stopped, error] = std::from_chars(text, end, number);
  if (error == std::errc() && stopped == end)
    return {};
  return Status::error(concat("COLLDSL_RANKS_PER_NODE is '", text, "', which is no number"));
}

/// What findNodes() and wireUp() both tell.
void noteNode(Meeting &meeting) {
  uint32_t ranksPerNode = 0;
  meeting.note(readRanksPerNode(ranksPerNode));
  meeting.mine().ranksPerNode = ranksPerNode;
  std::vector<network::OwnInterface> own = network::ownInterfaces();
  own.resize(meeting.mine().interfaces.size());
  std::copy(own.begin(), own.end(), meeting.mine().interfaces.begin());
}

std::vector<uint32_t> nodesOf(const Meeting &meeting) {
  return firstOfNodes(meeting.cards(), meeting.cards()[0].ranksPerNode);
}

/// Of the addresses in one network that which belongs to the nearest interface.
std::string nearestTo(const std::string &address, std::span<const Threads> seats) {
  Result<network::Address> known = network::readAddress(address);
  if (!known)
    return address;
  std::vector<network::OwnInterface> equal = network::besides(network::ownInterfaces(), *known);
  std::vector<NicName> names;
  for (const network::OwnInterface &one : equal)
    names.push_back({one.name, ""});
  return equal.empty() ? address : network::inWords(equal[nearestNic(names, seats)].address);
}

/// How this rank is on the network; an address that this variable says is left as it is.
Status chooseAddress(std::span<const Card> cards, const char *variable, network::Options &options) {
  std::vector<uint32_t> hosts = firstOfHosts(cards);
  if (network::setting(variable)) {
    Result<std::string> address = network::addressAt(options.bind);
    if (!address)
      return address.status();
    if (*address != options.bind)
      options.bind = nearestTo(*address, *options.seats);
    return {};
  }
  if (isOneNode(hosts))
    return {};
  Result<network::Address> point = meetingPoint(cards, hosts);
  if (!point)
    return Status::error(concat(point.message(), "; ", variable, " names one, on each host"));
  Result<std::string> address = network::addressTowards(*point);
  if (!address)
    return Status::error(
        concat(address.message(), ", where rank 0 is; ", variable, " names another address"));
  options.bind = nearestTo(*address, *options.seats);
  return {};
}

constexpr const char *kOfiBind = "COLLDSL_OFI_BIND";

template <typename Options>
Result<Options> bound(Result<Options> options, const char *variable, const Meeting &meeting) {
  if (!options)
    return options;
  options->seats = std::make_shared<const std::vector<Threads>>(meeting.seats());
  if (Status s = chooseAddress(meeting.cards(), variable, *options); !s)
    return s;
  return options;
}

/// Joins one of the networks. A rank that has no address tells all others so.
template <typename Options, typename Attach>
Status joinAt(const OutOfBand &launcher, Meeting &meeting, WiredUp &wired, const char *variable,
              Result<Options> given, Attach attach) {
  Result<Options> options = bound(std::move(given), variable, meeting);
  meeting.note(options.status());
  if (Status s = meeting.exchange(); !s)
    return s;
  OutOfBandBootstrap bootstrap(launcher);
  auto endpoint = attach(bootstrap, Rank{launcher.rank}, launcher.numRanks, *options);
  if (!endpoint)
    return endpoint.status();
  wired.parts.push_back(endpoint.take());
  return {};
}

Status joinNetwork(const OutOfBand &launcher, Meeting &meeting, WiredUp &wired, Ways ways) {
  switch (ways) {
  case Ways::Datagrams:
    return joinAt<datagram::Options>(launcher, meeting, wired, "COLLDSL_DATAGRAM_BIND",
                                     datagram::optionsFromEnvironment(),
                                     [](auto &&...all) { return datagram::attach(all...); });
  case Ways::Verbs:
    return joinAt<verbs::Options>(launcher, meeting, wired, "COLLDSL_VERBS_BIND",
                                  verbs::optionsFromEnvironment(),
                                  [](auto &&...all) { return verbs::attach(all...); });
  case Ways::All:
  case Ways::Ofi:
    break;
  }
  return joinAt<ofi::Options>(launcher, meeting, wired, kOfiBind, ofi::optionsFromEnvironment(),
                              [](auto &&...all) { return ofi::attach(all...); });
}

Status joinNode(const OutOfBand &launcher, WiredUp &wired) {
  lanes::LaneGroup group;
  group.context = lanes::kWorldContext;
  group.self = Rank{launcher.rank};
  uint32_t next = 0;
  for (uint32_t node : wired.nodes)
    group.ranks.push_back(node == wired.nodes[launcher.rank] ? Rank{next++} : kNoRank);
  auto endpoint =
      lanes::LaneEndpoint::attach(*wired.world, std::move(group), shm::laneOptions(*wired.world));
  if (!endpoint)
    return endpoint.status();
  wired.parts.push_back(endpoint.take());
  return {};
}

/// Lanes to the ranks of this node, libfabric to all others.
Result<WiredUp> wireNodes(const OutOfBand &launcher, Meeting &meeting,
                          std::vector<uint32_t> nodes) {
  Result<WiredUp> wired = meeting.share(std::move(nodes));
  if (!wired)
    return wired;
  if (Status s = joinNode(launcher, *wired); !s)
    return s;
  if (Status s = joinNetwork(launcher, meeting, *wired, Ways::All); !s)
    return s;
  std::vector<Endpoint *> parts;
  for (const auto &part : wired->parts)
    parts.push_back(part.get());
  std::vector<uint8_t> partOf;
  for (uint32_t node : wired->nodes)
    partOf.push_back(node == wired->nodes[launcher.rank] ? kMemory : kNetwork);
  wired->endpoint =
      std::make_unique<routed::RoutedEndpoint>(std::move(parts), std::move(partOf), kNetwork);
  return wired;
}

Result<WiredUp> wireNetwork(const OutOfBand &launcher, Meeting &meeting,
                            std::vector<uint32_t> nodes, Ways ways) {
  WiredUp wired;
  if (Status s = joinNetwork(launcher, meeting, wired, ways); !s)
    return s;
  wired.endpoint = std::move(wired.parts.back());
  wired.parts.clear();
  wired.pus = meeting.pusOf(ranksOfNode(nodes, launcher.rank));
  wired.nodes = std::move(nodes);
  return wired;
}

Result<WiredUp> wireOneNode(const OutOfBand &launcher, Meeting &meeting,
                            std::vector<uint32_t> nodes) {
  Result<WiredUp> wired = meeting.share(std::move(nodes));
  if (!wired)
    return wired;
  auto endpoint = shm::attach(*wired->world, Rank{launcher.rank});
  if (!endpoint)
    return endpoint.status();
  wired->endpoint = endpoint.take();
  if (launcher.barrier)
    if (Status s = launcher.barrier(); !s)
      return s;
  return wired;
}

// One layer less between messages and sockets, where libfabric has it.
constexpr const char *kQuickest = "net";

Result<OnNetwork> openOn(const OutOfBand &launcher, const char *provider) {
  shm::Options nothing;
  Meeting meeting(launcher, nothing);
  noteNode(meeting);
  if (Status s = meeting.begin(false); !s)
    return s;
  OnNetwork network;
  Result<ofi::Options> options =
      bound<ofi::Options>(ofi::optionsFromEnvironment(), kOfiBind, meeting);
  meeting.note(options.status());
  if (options) {
    if (provider)
      options->provider = provider;
    auto carrier = ofi::open(*options);
    meeting.note(carrier.status());
    network.options = *options;
    if (carrier)
      network.carrier = carrier.take();
  }
  if (Status s = meeting.exchange(); !s)
    return s;
  return network;
}

} // namespace

Result<WiredUp> wireUp(const OutOfBand &launcher, const shm::Options &options, const Status &own,
                       Ways ways) {
  Meeting meeting(launcher, options);
  meeting.note(own);
  noteNode(meeting);
  if (Status s = meeting.begin(ways == Ways::All); !s)
    return s;
  std::vector<uint32_t> nodes = nodesOf(meeting);
  if (ways != Ways::All)
    return wireNetwork(launcher, meeting, std::move(nodes), ways);
  return isOneNode(nodes) ? wireOneNode(launcher, meeting, std::move(nodes))
                          : wireNodes(launcher, meeting, std::move(nodes));
}

Result<OnNetwork> openNetwork(const OutOfBand &launcher, Haste haste) {
  if (haste == Haste::Quick && !network::setting("COLLDSL_OFI_PROVIDER"))
    if (Result<OnNetwork> network = openOn(launcher, kQuickest))
      return network;
  return openOn(launcher, nullptr);
}

Result<std::vector<uint32_t>> findNodes(const OutOfBand &launcher) {
  shm::Options nothing;
  Meeting meeting(launcher, nothing);
  noteNode(meeting);
  if (Status s = meeting.begin(false); !s)
    return s;
  return nodesOf(meeting);
}

} // namespace colldsl
