#include "runtime/WireUp.h"

#include "ir/Concat.h"
#include "runtime/Meeting.h"
#include "runtime/OnNetwork.h"
#include "runtime/OutOfBandBootstrap.h"
#include "transports/lanes/LaneEndpoint.h"
#include "transports/ofi/Attach.h"
#include "transports/routed/RoutedEndpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace colldsl {
namespace {

constexpr uint8_t kMemory = 0, kNetwork = 1; // parts

Status readRanksPerNode(uint32_t &number) {
  const char *text = std::getenv("COLLDSL_RANKS_PER_NODE");
  if (!text || !*text)
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
  std::vector<network::Interface> own = network::ownInterfaces();
  own.resize(meeting.mine().interfaces.size());
  std::copy(own.begin(), own.end(), meeting.mine().interfaces.begin());
}

std::vector<uint32_t> nodesOf(const Meeting &meeting) {
  return firstOfNodes(meeting.cards(), meeting.cards()[0].ranksPerNode);
}

/// How this rank is on the network, where nobody said it.
Result<ofi::Options> fabricOptions(std::span<const Card> cards) {
  ofi::Options options = ofi::optionsFromEnvironment();
  std::vector<uint32_t> hosts = firstOfHosts(cards);
  if (std::getenv("COLLDSL_OFI_BIND") || isOneNode(hosts))
    return options;
  Result<uint32_t> point = meetingPoint(cards, hosts);
  if (!point)
    return point.status();
  Result<std::string> address = network::addressTowards(*point);
  if (!address)
    return Status::error(
        concat(address.message(), ", where rank 0 is; COLLDSL_OFI_BIND names another address"));
  options.bind = address.take();
  return options;
}

// A rank that has no address tells all others so.
Status joinNetwork(const OutOfBand &launcher, Meeting &meeting, WiredUp &wired) {
  Result<ofi::Options> options = fabricOptions(meeting.cards());
  meeting.note(options.status());
  if (Status s = meeting.exchange(); !s)
    return s;
  OutOfBandBootstrap bootstrap(launcher);
  auto endpoint = ofi::attach(bootstrap, Rank{launcher.rank}, launcher.numRanks, *options);
  if (!endpoint)
    return endpoint.status();
  wired.parts.push_back(endpoint.take());
  return {};
}

Status joinNode(const OutOfBand &launcher, WiredUp &wired) {
  lanes::LaneGroup group;
  group.context = lanes::kWorldContext;
  group.self = Rank{launcher.rank};
  uint32_t next = 0;
  for (uint32_t node : wired.nodes)
    group.ranks.push_back(node == wired.nodes[launcher.rank] ? Rank{next++} : kNoRank);
  auto endpoint = lanes::LaneEndpoint::attach(*wired.world, std::move(group), {});
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
  if (Status s = joinNetwork(launcher, meeting, *wired); !s)
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
                            std::vector<uint32_t> nodes) {
  WiredUp wired;
  if (Status s = joinNetwork(launcher, meeting, wired); !s)
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
  auto endpoint = wired->world->attach(Rank{launcher.rank});
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
  Result<ofi::Options> options = fabricOptions(meeting.cards());
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
  if (ways == Ways::Network)
    return wireNetwork(launcher, meeting, std::move(nodes));
  return isOneNode(nodes) ? wireOneNode(launcher, meeting, std::move(nodes))
                          : wireNodes(launcher, meeting, std::move(nodes));
}

Result<OnNetwork> openNetwork(const OutOfBand &launcher, Haste haste) {
  if (haste == Haste::Quick && !std::getenv("COLLDSL_OFI_PROVIDER"))
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
