#include "runtime/graph/GraphOrder.h"

#include "instantiate/graphs/coloring/PortGraph.h"
#include "passes/SendOrder.h"
#include "program/Program.h"
#include "runtime/graph/ColorByQueries.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr uint64_t kMaxGathered = uint64_t{1} << 30; ///< colors are found with 32-bit numbers

std::vector<Rank> peersOf(const std::vector<RankEdges::Edge> &edges) {
  std::vector<Rank> peers;
  for (const RankEdges::Edge &edge : edges)
    if (edge.peer != kNone)
      peers.push_back(Rank{static_cast<uint32_t>(edge.peer)});
  return peers;
}

struct Degrees {
  uint32_t out, in;
};

/// Edges in the order of ranks and slots. Only their ends are gathered, not their keys.
Result<PortGraph> gatherPorts(Communicator &communicator, const std::vector<Rank> &to,
                              const std::vector<Degrees> &degrees) {
  uint32_t ranks = communicator.numRanks();
  PortGraph graph{ranks, ranks, {}, {}};
  std::vector<uint64_t> ends;
  for (uint32_t r = 0; r < ranks; ++r) {
    graph.from.insert(graph.from.end(), degrees[r].out, r);
    ends.push_back(graph.from.size() * sizeof(uint32_t));
  }
  graph.to.resize(graph.from.size());
  if (Status s = communicator.allgather(std::as_bytes(std::span(to)), ends, graph.to.data()); !s)
    return s;
  return graph;
}

/// The rounds of this rank's edges, taken from those of all edges.
GraphOrder colorHere(const PortGraph &graph, Rank me) {
  if (std::optional<EdgeColors> inOrder = colorInOrder(graph))
    return {inOrder->rounds, {}};
  EdgeColors all = colorOptimally(graph);
  auto [first, last] = std::equal_range(graph.from.begin(), graph.from.end(), index(me));
  return {all.rounds, std::vector<uint32_t>(all.color.begin() + (first - graph.from.begin()),
                                            all.color.begin() + (last - graph.from.begin()))};
}

} // namespace

Result<GraphOrder> orderGraph(Communicator &communicator, const RankEdges &own,
                              const GraphOrderOptions &options) {
  if (!options.isOn)
    return GraphOrder{};
  std::vector<Rank> to = peersOf(own.out), from = peersOf(own.in);
  Result<std::vector<Degrees>> degrees = communicator.allgatherOne(
      Degrees{static_cast<uint32_t>(to.size()), static_cast<uint32_t>(from.size())});
  if (!degrees)
    return degrees.status();
  uint64_t edges = 0;
  Degrees most{0, 0};
  for (const Degrees &d : *degrees) {
    edges += d.out;
    most = {std::max(most.out, d.out), std::max(most.in, d.in)};
  }
  uint32_t degree = std::max(most.out, most.in);
  if (degree < 2)
    return GraphOrder{degree, {}};
  if (edges > std::min(options.gatherAtMost, kMaxGathered))
    return colorByQueries(communicator, to, from, most.out, degree);
  Result<PortGraph> graph = gatherPorts(communicator, to, *degrees);
  if (!graph)
    return graph.status();
  return colorHere(*graph, communicator.rank());
}

bool isAlong(const Dag &dag, const RankEdges &own) {
  std::vector<Rank> to, from, expectedTo = peersOf(own.out), expectedFrom = peersOf(own.in);
  for (const Op &op : dag.ops) {
    if (isMessage(op.kind) && op.depCount > 0)
      return false;
    if (sendsMessage(op.kind))
      to.push_back(op.peer);
    if (receivesMessage(op.kind))
      from.push_back(op.peer);
  }
  for (std::vector<Rank> *peers : {&to, &from, &expectedTo, &expectedFrom})
    std::sort(peers->begin(), peers->end());
  return to == expectedTo && from == expectedFrom;
}

// Slots are not needed: parallel edges may swap their rounds, and orderSends() swaps them such that
// sends to one rank keep their order.
Status orderAlong(Dag &dag, const OrderedGraph &graph) {
  std::vector<Rank> to = peersOf(graph.edges.ranks.front().out);
  std::vector<DueSend> edges, sends;
  for (size_t i = 0; i < to.size(); ++i)
    edges.push_back({kNoOp, to[i], 0, graph.order.round[i]});
  for (uint32_t i = 0; i < dag.size(); ++i)
    if (sendsMessage(dag.ops[i].kind))
      sends.push_back({OpId{i}, dag.ops[i].peer});
  for (std::vector<DueSend> *list : {&edges, &sends})
    std::stable_sort(list->begin(), list->end(),
                     [](const DueSend &a, const DueSend &b) { return a.to < b.to; });
  for (size_t i = 0; i < sends.size(); ++i)
    sends[i].round = edges[i].round;
  return orderSends(dag, std::move(sends));
}

} // namespace colldsl
