#include "tests/runtime/RandomGraphs.h"

#include "program/Program.h"
#include "runtime/job/LocalRanks.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace colldsl {
namespace {

void addEdge(GivenGraph &graph, uint64_t from, uint64_t to) {
  graph.ranks[from].out.push_back({static_cast<int64_t>(to)});
  graph.ranks[to].in.push_back({static_cast<int64_t>(from)});
}

std::vector<std::byte> pack(const std::vector<GraphOrder> &orders) {
  std::vector<uint32_t> words;
  for (const GraphOrder &order : orders) {
    words.push_back(order.rounds);
    words.push_back(static_cast<uint32_t>(order.round.size()));
    words.insert(words.end(), order.round.begin(), order.round.end());
  }
  auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::vector<GraphOrder> unpack(const std::vector<std::byte> &bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::vector<GraphOrder> orders;
  for (auto at = words.begin(); at != words.end();) {
    GraphOrder &order = orders.emplace_back();
    order.rounds = *at++;
    auto end = at + 1 + *at;
    order.round.assign(at + 1, end);
    at = end;
  }
  return orders;
}

} // namespace

GivenGraph randomMultigraph(uint32_t ranks, uint64_t seed) {
  std::mt19937_64 engine(seed * 1000 + ranks);
  GivenGraph graph;
  graph.ranks.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint64_t left = engine() % 4 == 0 ? 0 : engine() % 6; left > 0; --left)
      addEdge(graph, r, engine() % ranks);
  for (uint32_t r = 0; seed % 3 == 0 && r < ranks; ++r)
    addEdge(graph, r, seed % ranks);
  for (RankEdges &own : graph.ranks)
    for (auto *edges : {&own.out, &own.in}) {
      if (engine() % 3 == 0)
        edges->push_back({kNone});
      std::shuffle(edges->begin(), edges->end(), engine);
    }
  return graph;
}

GivenGraph shifts(uint32_t ranks, uint32_t degree) {
  GivenGraph graph;
  graph.ranks.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint32_t k = 0; k < degree; ++k)
      addEdge(graph, r, (r + 3 * k + 1) % ranks);
  return graph;
}

PortGraph portsOf(const GivenGraph &graph) {
  auto ranks = static_cast<uint32_t>(graph.ranks.size());
  PortGraph ports{ranks, ranks, {}, {}};
  for (uint32_t r = 0; r < ranks; ++r)
    for (const RankEdges::Edge &edge : graph.ranks[r].out)
      if (edge.peer != kNone)
        ports.add(r, static_cast<uint32_t>(edge.peer));
  return ports;
}

Result<std::vector<std::vector<GraphOrder>>> orderOnRanks(uint32_t ranks,
                                                          const std::vector<GivenGraph> &graphs,
                                                          const GraphOrderOptions &options) {
  LocalOptions local;
  local.numRanks = ranks;
  local.timeout = std::chrono::seconds(300);
  auto body = [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
    Communicator communicator(endpoint, Topology());
    std::vector<GraphOrder> orders;
    for (const GivenGraph &graph : graphs) {
      const RankEdges &own = graph.ranks[index(communicator.rank())];
      Result<GraphOrder> order = orderGraph(communicator, own, options);
      if (!order)
        return order.status();
      orders.push_back(order.take());
    }
    return pack(orders);
  };
  Result<std::vector<RankOutcome>> outcomes = runLocalRanks(local, body);
  if (!outcomes)
    return outcomes.status();
  if (Status s = firstFailure(*outcomes); !s)
    return s;
  std::vector<std::vector<GraphOrder>> found(graphs.size());
  for (const RankOutcome &outcome : *outcomes) {
    std::vector<GraphOrder> ofRank = unpack(outcome.bytes);
    for (size_t g = 0; g < graphs.size(); ++g)
      found[g].push_back(std::move(ofRank[g]));
  }
  return found;
}

} // namespace colldsl
