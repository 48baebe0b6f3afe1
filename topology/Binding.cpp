#include "topology/Binding.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>

namespace colldsl {

namespace {

/// The cores of a node so that consecutive ones lie on different sockets, then on
/// different NUMA nodes of a socket.
/// Example: two sockets of two cores, 0 1 | 2 3 -> 0 2 1 3.
std::vector<uint32_t> scatteredCores(const Machine &machine) {
  struct Key {
    uint32_t indexInNuma, numaInSocket, socket, core;
    auto operator<=>(const Key &) const = default;
  };
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> coresOfNuma; // by (socket, numa)
  std::map<uint32_t, uint32_t> numasOfSocket;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numaInSocket;
  std::vector<Key> keys;
  for (uint32_t core = 0; core < machine.coresPerNode(); ++core) {
    const Place &place = machine.pusOfNode()[machine.puOfCore(core, 0)];
    std::pair numa{place.socket, place.numa};
    if (!numaInSocket.contains(numa))
      numaInSocket[numa] = numasOfSocket[place.socket]++;
    keys.push_back({coresOfNuma[numa]++, numaInSocket[numa], place.socket, core});
  }
  std::ranges::sort(keys);
  std::vector<uint32_t> cores(keys.size());
  std::ranges::transform(keys, cores.begin(), &Key::core);
  return cores;
}

std::vector<uint32_t> coresInOrder(const Machine &machine, RankBinding::Order order) {
  if (order == RankBinding::Order::Scatter)
    return scatteredCores(machine);
  std::vector<uint32_t> cores(machine.coresPerNode());
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

/// Rounds of a node's threads: the first thread of each core, the second of each that
/// has two, and so on.
std::vector<std::vector<uint32_t>> roundsOfThreads(const Machine &machine,
                                                   const std::vector<uint32_t> &cores) {
  std::vector<std::vector<uint32_t>> rounds;
  for (uint32_t core : cores)
    for (uint32_t k = 0; k < machine.pusOfCore(core); ++k) {
      rounds.resize(std::max<size_t>(rounds.size(), k + 1));
      rounds[k].push_back(machine.puOfCore(core, k));
    }
  return rounds;
}

std::vector<Place> bindInOrder(const Machine &machine, RankBinding::Order order,
                               uint32_t numRanks) {
  std::vector<std::vector<uint32_t>> rounds =
      roundsOfThreads(machine, coresInOrder(machine, order));
  std::vector<Place> places;
  places.reserve(numRanks);
  for (size_t k = 0; places.size() < numRanks; k = (k + 1) % rounds.size()) {
    uint64_t threads = rounds[k].size();
    uint64_t take = std::min<uint64_t>(numRanks - places.size(), threads * machine.nodes());
    for (uint64_t i = 0; i < take; ++i) {
      bool scatter = order == RankBinding::Order::Scatter;
      uint64_t node = scatter ? i % machine.nodes() : i / threads;
      uint64_t thread = scatter ? i / machine.nodes() : i % threads;
      places.push_back(machine.place(static_cast<uint32_t>(node), rounds[k][thread]));
    }
  }
  return places;
}

std::string plural(uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

Result<std::vector<Place>> bindToList(const Machine &machine, const RankBinding &binding,
                                      uint32_t numRanks) {
  std::vector<Place> places;
  places.reserve(numRanks);
  std::map<uint32_t, uint32_t> ranksOnCore;
  for (uint32_t r = 0; r < numRanks; ++r) {
    uint32_t core = binding.cores[r % binding.cores.size()];
    if (core >= machine.numCores())
      return Status::error("no core " + std::to_string(core) + " to bind rank " +
                           std::to_string(r) + " to: the machine has " +
                           plural(machine.numCores(), "core"));
    uint32_t coreOfNode = core % machine.coresPerNode();
    uint32_t threads = machine.pusOfCore(coreOfNode);
    uint32_t taken = ranksOnCore[core]++;
    if (taken >= threads && !binding.oversubscribe)
      return Status::error("the binding puts more ranks on core " + std::to_string(core) +
                           " than its " + plural(threads, "hardware thread"));
    places.push_back(machine.place(core / machine.coresPerNode(),
                                   machine.puOfCore(coreOfNode, taken % threads)));
  }
  return places;
}

Result<std::vector<Place>> bindToNodes(const Machine &machine, const RankBinding &binding,
                                       uint32_t numRanks) {
  std::vector<uint32_t> threads; // of a node, in the order in which ranks take them
  for (const auto &round :
       roundsOfThreads(machine, coresInOrder(machine, RankBinding::Order::Core)))
    threads.insert(threads.end(), round.begin(), round.end());
  std::vector<Place> places;
  places.reserve(numRanks);
  std::vector<uint32_t> taken(machine.nodes());
  for (uint32_t r = 0; r < numRanks; ++r) {
    uint32_t node = binding.nodes[r % binding.nodes.size()];
    uint32_t next = taken[node]++;
    if (next >= threads.size() && !binding.oversubscribe)
      return Status::error("a host is listed more often than its " +
                           plural(threads.size(), "hardware thread"));
    places.push_back(machine.place(node, threads[next % threads.size()]));
  }
  return places;
}

} // namespace

uint64_t room(const Machine &machine, const RankBinding &binding) {
  switch (binding.order) {
  case RankBinding::Order::Core:
  case RankBinding::Order::Scatter:
    return machine.numPus();
  case RankBinding::Order::List:
    return binding.cores.size();
  case RankBinding::Order::Nodes:
    return binding.nodes.size();
  }
  assert(false && "not an order");
  return 0;
}

Result<std::vector<Place>> bindRanks(const Machine &machine, const RankBinding &binding,
                                     uint32_t numRanks) {
  using Order = RankBinding::Order;
  uint64_t most = room(machine, binding);
  if (numRanks > most && !binding.oversubscribe) {
    std::string ranks = plural(numRanks, "rank");
    return Diagnostic::error({},
                             binding.order == Order::List
                                 ? "the binding lists " + plural(most, "core") + " for " + ranks
                             : binding.order == Order::Nodes
                                 ? "hosts are listed for " + plural(most, "rank") + ", not " + ranks
                                 : ranks + " do not fit on " + plural(most, "hardware thread"),
                             "add 'oversubscribe' to let ranks share");
  }
  if (binding.order == Order::List)
    return bindToList(machine, binding, numRanks);
  if (binding.order == Order::Nodes)
    return bindToNodes(machine, binding, numRanks);
  return bindInOrder(machine, binding.order, numRanks);
}

} // namespace colldsl
