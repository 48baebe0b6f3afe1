#include "runtime/job/WireUp.h"

#include "ir/Concat.h"
#include "protocol/HybridEndpoint.h"
#include "protocol/local/Attach.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "runtime/job/EachNetwork.h"
#include "runtime/job/NodeMemory.h"
#include "runtime/job/OnNetwork.h"
#include "wireup/BindAddress.h"
#include "wireup/Nodes.h"
#include "wireup/OobBootstrap.h"

namespace colldsl {
namespace {

/// Binds the options of a network to an address. The next exchange has the error, if there is one.
template <typename Options>
void bind(NetworkSettings &settings, Result<Options> &options, ProcessInfoExchange &exchange) {
  if (options) {
    options->boundThreads = std::make_shared<const std::vector<Threads>>(exchange.boundThreads());
    if (Status s = chooseBindAddress(exchange.processes(), settings, *options->boundThreads,
                                     options->bind);
        !s)
      options = s;
  }
  exchange.note(options.status());
}

/// Joins the network. A rank that has no address notifies all others.
Status joinNetwork(const Oob &oob, ProcessInfoExchange &exchange, WiredUp &wired,
                   const Network &network) {
  NetworkSettings settings = settingsOf(network);
  return withNetwork(network, settings, [&](auto options, auto open) -> Status {
    bind(settings, options, exchange);
    if (Status s = exchange.run(); !s)
      return s;
    OobBootstrap bootstrap(oob);
    Rank self{oob.rank};
    auto endpoint = protocol::attach(bootstrap, self, oob.numRanks, *options,
                                     open(self, oob.numRanks, *options));
    if (!endpoint)
      return endpoint.status();
    wired.parts.push_back(endpoint.take());
    return {};
  });
}

Status joinNode(const Oob &oob, WiredUp &wired) {
  protocol::RankGroup group;
  group.context = protocol::kWorldContext;
  group.self = Rank{oob.rank};
  uint32_t next = 0;
  for (uint32_t node : wired.nodes)
    group.ranks.push_back(node == wired.nodes[oob.rank] ? Rank{next++} : kNoRank);
  auto endpoint = protocol::attach(*wired.world, group, protocol::optionsOf(*wired.world));
  if (!endpoint)
    return endpoint.status();
  wired.parts.push_back(endpoint.take());
  return {};
}

/// Shared memory with the ranks of this node, the network to all others.
Result<WiredUp> wireNodes(const Oob &oob, ProcessInfoExchange &exchange, NodeMemory &memory,
                          std::vector<uint32_t> nodes, const Network &network) {
  Result<WiredUp> wired = memory.share(std::move(nodes));
  if (!wired)
    return wired;
  if (Status s = joinNode(oob, *wired); !s)
    return s;
  if (Status s = joinNetwork(oob, exchange, *wired, network); !s)
    return s;
  std::vector<bool> isRemote;
  for (uint32_t node : wired->nodes)
    isRemote.push_back(node != wired->nodes[oob.rank]);
  wired->endpoint = std::make_unique<protocol::HybridEndpoint>(*wired->parts[0], *wired->parts[1],
                                                               std::move(isRemote));
  return wired;
}

Result<WiredUp> wireNetwork(const Oob &oob, ProcessInfoExchange &exchange,
                            std::vector<uint32_t> nodes, const Network &network) {
  WiredUp wired;
  if (Status s = joinNetwork(oob, exchange, wired, network); !s)
    return s;
  wired.endpoint = std::move(wired.parts.back());
  wired.parts.clear();
  wired.pus = exchange.pusOf(ranksOfNode(nodes, oob.rank));
  wired.nodes = std::move(nodes);
  return wired;
}

Result<WiredUp> wireOneNode(const Oob &oob, NodeMemory &memory, std::vector<uint32_t> nodes) {
  Result<WiredUp> wired = memory.share(std::move(nodes));
  if (!wired)
    return wired;
  auto endpoint = protocol::attach(*wired->world, Rank{oob.rank});
  if (!endpoint)
    return endpoint.status();
  wired->endpoint = endpoint.take();
  if (oob.barrier)
    if (Status s = oob.barrier(); !s)
      return s;
  return wired;
}

bool isProfileShared(std::span<const ProcessInfo> processes) {
  return std::all_of(processes.begin(), processes.end(), [&](const ProcessInfo &process) {
    return process.profile == processes.front().profile;
  });
}

// Has one layer less between messages and sockets, if libfabric has it.
constexpr const char *kQuickest = "net";

Result<OnNetwork> openOn(const Oob &oob, const Network &network) {
  ProcessInfoExchange exchange(oob);
  exchange.describeNode();
  exchange.noteNetwork(network.inWords());
  if (Status s = exchange.run(); !s)
    return s;
  OnNetwork opened;
  NetworkSettings settings = settingsOf(network);
  withNetwork(network, settings, [&](auto options, auto open) {
    bind(settings, options, exchange);
    if (!options)
      return;
    options->flushes = true;
    auto transport = open(Rank{oob.rank}, oob.numRanks, *options);
    exchange.note(transport.status());
    opened.options = *options;
    if (transport)
      opened.transport = transport.take();
  });
  if (Status s = exchange.run(); !s)
    return s;
  return opened;
}

} // namespace

Result<WiredUp> wireUp(const Oob &oob, const shm::Options &options, const Result<Network> &network,
                       const Status &own, uint64_t profile) {
  ProcessInfoExchange exchange(oob);
  NodeMemory memory(oob, exchange, options);
  exchange.note(own);
  exchange.note(network.status());
  exchange.mine().profile = profile;
  exchange.describeNode();
  if (network) {
    exchange.noteNetwork(network->inWords());
    if (!network->isAlone)
      memory.offer();
  }
  if (Status s = exchange.run(); !s)
    return s;
  bool isShared = isProfileShared(exchange.processes());
  std::vector<uint32_t> nodes = exchange.nodes();
  Result<WiredUp> wired = network->isAlone ? wireNetwork(oob, exchange, std::move(nodes), *network)
                          : isOneNode(nodes)
                              ? wireOneNode(oob, memory, std::move(nodes))
                              : wireNodes(oob, exchange, memory, std::move(nodes), *network);
  if (wired)
    wired->profile = isShared ? profile : 0;
  return wired;
}

// Ranks that name a provider try it twice, so that all ranks make the same calls.
Result<OnNetwork> openNetwork(const Oob &oob, const Network &network, WakeupPreference wakeup) {
  if (wakeup == WakeupPreference::Polling && network.kind == NetworkKind::Ofi) {
    Network quick = network;
    if (!settingsOf(network).has("COLLDSL_OFI_PROVIDER"))
      quick.options = concat("provider=", kQuickest, ",", network.options);
    if (Result<OnNetwork> opened = openOn(oob, quick))
      return opened;
  }
  return openOn(oob, network);
}

} // namespace colldsl
