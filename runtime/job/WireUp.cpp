#include "runtime/job/WireUp.h"

#include "protocol/HybridEndpoint.h"
#include "protocol/local/Attach.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "runtime/job/EachNetwork.h"
#include "runtime/job/NodeMemory.h"
#include "runtime/job/OnNetwork.h"
#include "wireup/BindAddress.h"
#include "wireup/Environment.h"
#include "wireup/Nodes.h"
#include "wireup/OobBootstrap.h"

namespace colldsl {
namespace {

constexpr const char *kOfiBind = "COLLDSL_OFI_BIND";

template <typename Options>
Result<Options> bound(Result<Options> options, const char *variable,
                      const ProcessInfoExchange &exchange) {
  if (!options)
    return options;
  options->boundThreads = std::make_shared<const std::vector<Threads>>(exchange.boundThreads());
  if (Status s =
          chooseBindAddress(exchange.processes(), variable, *options->boundThreads, options->bind);
      !s)
    return s;
  return options;
}

/// Joins one of the networks. A rank that has no address notifies all others.
Status joinNetwork(const Oob &oob, ProcessInfoExchange &exchange, WiredUp &wired,
                   Transports transports) {
  return withNetwork(transports, [&](const char *variable, auto given, auto open) -> Status {
    auto options = bound(std::move(given), variable, exchange);
    exchange.note(options.status());
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

/// Shared memory with the ranks of this node, libfabric to all others.
Result<WiredUp> wireNodes(const Oob &oob, ProcessInfoExchange &exchange, NodeMemory &memory,
                          std::vector<uint32_t> nodes) {
  Result<WiredUp> wired = memory.share(std::move(nodes));
  if (!wired)
    return wired;
  if (Status s = joinNode(oob, *wired); !s)
    return s;
  if (Status s = joinNetwork(oob, exchange, *wired, Transports::All); !s)
    return s;
  std::vector<bool> isRemote;
  for (uint32_t node : wired->nodes)
    isRemote.push_back(node != wired->nodes[oob.rank]);
  wired->endpoint = std::make_unique<protocol::HybridEndpoint>(*wired->parts[0], *wired->parts[1],
                                                               std::move(isRemote));
  return wired;
}

Result<WiredUp> wireNetwork(const Oob &oob, ProcessInfoExchange &exchange,
                            std::vector<uint32_t> nodes, Transports transports) {
  WiredUp wired;
  if (Status s = joinNetwork(oob, exchange, wired, transports); !s)
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

Result<OnNetwork> openOn(const Oob &oob, const char *provider) {
  ProcessInfoExchange exchange(oob);
  exchange.describeNode();
  if (Status s = exchange.run(); !s)
    return s;
  OnNetwork network;
  Result<ofi::Options> options =
      bound<ofi::Options>(ofi::optionsFromEnvironment(), kOfiBind, exchange);
  exchange.note(options.status());
  if (options) {
    if (provider)
      options->provider = provider;
    auto transport = ofi::open(*options);
    exchange.note(transport.status());
    network.options = *options;
    if (transport)
      network.transport = transport.take();
  }
  if (Status s = exchange.run(); !s)
    return s;
  return network;
}

} // namespace

Result<WiredUp> wireUp(const Oob &oob, const shm::Options &options, const Status &own,
                       Transports transports, uint64_t profile) {
  ProcessInfoExchange exchange(oob);
  NodeMemory memory(oob, exchange, options);
  exchange.note(own);
  exchange.mine().profile = profile;
  exchange.describeNode();
  if (transports == Transports::All)
    memory.offer();
  if (Status s = exchange.run(); !s)
    return s;
  bool isShared = isProfileShared(exchange.processes());
  std::vector<uint32_t> nodes = exchange.nodes();
  Result<WiredUp> wired = transports != Transports::All
                              ? wireNetwork(oob, exchange, std::move(nodes), transports)
                          : isOneNode(nodes) ? wireOneNode(oob, memory, std::move(nodes))
                                             : wireNodes(oob, exchange, memory, std::move(nodes));
  if (wired)
    wired->profile = isShared ? profile : 0;
  return wired;
}

Result<OnNetwork> openNetwork(const Oob &oob, WakeupPreference wakeup) {
  if (wakeup == WakeupPreference::Polling && !setting("COLLDSL_OFI_PROVIDER"))
    if (Result<OnNetwork> network = openOn(oob, kQuickest))
      return network;
  return openOn(oob, nullptr);
}

} // namespace colldsl
