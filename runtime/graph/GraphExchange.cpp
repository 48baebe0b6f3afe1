#include "runtime/graph/GraphExchange.h"

#include "instantiate/Instantiate.h"
#include "instantiate/graphs/coloring/PortGraph.h"
#include "ir/Concat.h"
#include "passes/CombineMessages.h"
#include "passes/EdgeColoring.h"
#include "passes/TreeRebalance.h"
#include "runtime/graph/GraphBlocks.h"

#include <algorithm>
#include <optional>

namespace colldsl {
namespace {

constexpr uint64_t kShortBytes = 512; ///< the mean of the messages that the passes see
constexpr uint64_t kMostBytes = 16 << 10;
constexpr uint64_t kMostMemory = 4 << 20; ///< for the blocks of one rank, relayed ones too
constexpr uint64_t kSearchNsPerMessage = 50'000, kAllWaysNsPerMessage = 150'000;
constexpr uint32_t kMostUnits = 16; ///< of the longest block, where lengths differ

std::vector<std::vector<uint32_t>> sources(const PeerLists &peers) {
  std::vector<std::vector<uint32_t>> from(peers.size());
  for (uint32_t r = 0; r < peers.size(); ++r)
    for (uint32_t peer : peers[r])
      from[peer].push_back(r);
  return from;
}

GivenGraph graphOf(const PeerLists &peers, const PeerLists &from) {
  GivenGraph graph;
  auto edges = [](const std::vector<uint32_t> &list) {
    std::vector<RankEdges::Edge> edges;
    for (uint32_t peer : list)
      edges.push_back({peer});
    return edges;
  };
  for (size_t r = 0; r < peers.size(); ++r)
    graph.ranks.push_back({edges(peers[r]), edges(from[r])});
  return graph;
}

/// The lengths of blocks in units, by weights.
struct Units {
  std::vector<GraphBlocks> ranks;
  uint64_t all = 0;  ///< of the messages of all ranks
  uint32_t most = 1; ///< of a block
};

size_t placeOf(const std::vector<uint32_t> &peers, uint32_t peer) {
  return static_cast<size_t>(std::lower_bound(peers.begin(), peers.end(), peer) - peers.begin());
}

/// A block that goes to all peers is as long as its heaviest edge says.
std::vector<UnitList> sentUnits(const GraphExchangeRequest &request) {
  std::vector<UnitList> sent;
  uint32_t least = UINT32_MAX, most = 0;
  for (size_t r = 0; r < request.peers.size(); ++r) {
    sent.push_back(request.weights.empty() ? UnitList(request.peers[r].size(), 1)
                                           : request.weights[r]);
    UnitList &blocks = sent.back();
    if (request.sendsSame)
      blocks = {blocks.empty() ? 0 : *std::max_element(blocks.begin(), blocks.end())};
    if (!request.peers[r].empty())
      for (uint32_t weight : blocks) {
        least = std::min(least, weight);
        most = std::max(most, weight);
      }
  }
  bool areAlike = least >= most;
  for (UnitList &blocks : sent)
    for (uint32_t &weight : blocks) {
      uint64_t units = areAlike ? 1 : (uint64_t{weight} * kMostUnits + most / 2) / most;
      weight = static_cast<uint32_t>(std::max<uint64_t>(units, 1));
    }
  return sent;
}

Units unitsOf(const GraphExchangeRequest &request, const PeerLists &from) {
  std::vector<UnitList> sent = sentUnits(request);
  Units units;
  for (uint32_t r = 0; r < from.size(); ++r) {
    UnitList received;
    for (uint32_t peer : from[r]) {
      size_t block = request.sendsSame ? 0 : placeOf(request.peers[peer], r);
      received.push_back(sent[peer][block]);
      units.all += received.back();
      units.most = std::max(units.most, received.back());
    }
    units.ranks.push_back({sent[r], std::move(received)});
  }
  return units;
}

Result<Schedule> asWritten(Library &library, const GraphExchangeRequest &request,
                           const GivenGraph &graph) {
  Result<const Program *> program = library.program();
  if (!program)
    return program.status();
  const char *name = request.sendsSame ? "neighbor_allgather" : "neighbor_alltoall";
  InstantiateRequest made;
  made.collective = (*program)->find(name, DeclKind::Collective);
  if (made.collective == kNoDecl)
    return Status::error(concat("the library has no '", name, "'"));
  made.ranks = static_cast<uint32_t>(request.peers.size());
  made.elements = kShortBytes;
  made.type = ElementType::U8;
  made.topology = &request.topology;
  made.values.assign((*program)->decl(made.collective).params.size(), {});
  made.values[0] = &graph;
  return instantiateAll(**program, made);
}

/// A schedule after passes, of which it notes those that changed something.
struct Way {
  const char *name;
  Schedule schedule;
  uint64_t ns;
  std::string passes;
};

bool isBetterTime(uint64_t afterNs, uint64_t beforeNs) {
  return afterNs < beforeNs - beforeNs / 10;
}

std::vector<uint32_t> roundsOf(const PortGraph &graph, Rank rank) {
  EdgeColors all = colorOptimally(graph);
  auto [first, last] = std::equal_range(graph.from.begin(), graph.from.end(), index(rank));
  return {all.color.begin() + (first - graph.from.begin()),
          all.color.begin() + (last - graph.from.begin())};
}

PortGraph portsOf(const PeerLists &peers) {
  auto ranks = static_cast<uint32_t>(peers.size());
  PortGraph graph{ranks, ranks, {}, {}};
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint32_t peer : peers[r])
      graph.add(r, peer);
  return graph;
}

/// Finds the ways, each from the schedule as it is written.
class Search {
public:
  Search(const GraphExchangeRequest &request, Schedule written, Units units)
      : request_(request), written_(std::move(written)), units_(std::move(units)),
        ports_(portsOf(request.peers)), from_(sources(request.peers)) {
    cost_.machine = request.machine;
    uint64_t messages = std::max<size_t>(ports_.numEdges(), 1);
    sizes_ =
        sizesFor(std::max<uint64_t>(kShortBytes * messages / std::max(units_.all, messages), 1));
  }

  Result<std::vector<GraphExchange>> run() {
    Result<uint64_t> before = timeOf(written_, context_);
    if (!before)
      return before.status();
    beforeNs_ = *before;
    found_.push_back(straight("direct", beforeNs_));
    Status s = addRounds();
    if (s)
      s = addRelayed();
    if (!s)
      return s;
    std::stable_sort(found_.begin() + 1, found_.end(),
                     [](const auto &a, const auto &b) { return a.afterNs < b.afterNs; });
    return std::move(found_);
  }

private:
  std::vector<Sizes> sizesFor(uint64_t unitBytes) const {
    Sizes sizes;
    sizes.elements = unitBytes;
    return std::vector<Sizes>(written_.numRanks(), sizes);
  }

  GraphExchange straight(const char *name, uint64_t ns) const {
    GraphExchange way;
    way.name = name;
    way.to = request_.peers[index(request_.rank)];
    way.from = from_[index(request_.rank)];
    way.beforeNs = beforeNs_;
    way.afterNs = ns;
    way.isBetter = isBetterTime(ns, beforeNs_);
    return way;
  }

  Status addRounds() {
    if (colorInOrder(ports_))
      return {}; // the order of the peers is as good
    EdgeColoring coloring;
    coloring.always = true;
    Result<DagOutcome> outcome = colorSends(written_, coloring, context_);
    Result<uint64_t> ns = outcome ? timeOf(outcome->schedule, context_) : outcome.status();
    if (!ns)
      return ns.status();
    rounds_ = roundsOf(ports_, request_.rank);
    GraphExchange way = straight("direct_in_rounds", *ns);
    way.round = rounds_;
    way.passes = "edge-coloring";
    found_.push_back(std::move(way));
    return {};
  }

  /// The schedule after one pass. Nothing: the pass changes nothing.
  template <typename Function, typename Options>
  Result<std::optional<Way>> begin(const char *name, const char *passName, Function pass,
                                   const Options &options) const {
    Result<DagOutcome> outcome = pass(written_, options, context_);
    Result<uint64_t> ns = outcome ? timeOf(outcome->schedule, context_) : outcome.status();
    if (!ns)
      return ns.status();
    if (*ns == beforeNs_ && outcome->schedule.numOps() == written_.numOps())
      return std::optional<Way>();
    return std::optional<Way>({name, std::move(outcome->schedule), *ns, passName});
  }

  /// Applies a further pass, if that is faster.
  template <typename Function, typename Options>
  Status improve(Way &way, const char *passName, Function pass, const Options &options) const {
    Result<DagOutcome> outcome = pass(way.schedule, options, context_);
    Result<uint64_t> ns = outcome ? timeOf(outcome->schedule, context_) : outcome.status();
    if (!ns)
      return ns.status();
    if (*ns >= way.ns)
      return {};
    way.schedule = std::move(outcome->schedule);
    way.ns = *ns;
    way.passes += concat(", ", passName);
    return {};
  }

  /// The ways over ranks between. Without `wantsAll` the slower way by nodes is left out, and trees
  /// are if that by nodes is better than what is written.
  Status addRelayed() {
    std::vector<Way> ways;
    auto add = [&](Result<std::optional<Way>> way) {
      if (way && *way)
        ways.push_back(std::move(**way));
      return way.status();
    };
    CombineMessages nodes;
    nodes.by = CombineMessages::By::Node;
    Status s = add(begin("by_node", "combine-messages{by=node}", combineMessages, nodes));
    nodes.leaders = CombineMessages::Leaders::Busiest;
    if (s)
      s = add(begin("by_node_busiest", "combine-messages{by=node;leaders=busiest}", combineMessages,
                    nodes));
    if (s && ways.size() == 2) {
      bool isAlike =
          ways[0].ns == ways[1].ns && ways[0].schedule.numOps() == ways[1].schedule.numOps();
      if (isAlike || !request_.wantsAll)
        ways.erase(ways[1].ns < ways[0].ns ? ways.begin() : ways.begin() + 1);
    }
    bool isBetter = !ways.empty() && isBetterTime(ways.front().ns, beforeNs_);
    if (s && (request_.wantsAll || !isBetter))
      s = add(begin("by_trees", "tree-rebalance", rebalance, TreeRebalance()));
    for (Way &way : ways)
      if (s)
        s = finish(way);
    return s;
  }

  Status finish(Way &way) {
    Status s = way.name == std::string_view("by_trees")
                   ? Status()
                   : improve(way, "tree-rebalance", rebalance, TreeRebalance());
    if (s)
      s = improve(way, "edge-coloring", colorSends, EdgeColoring());
    return s ? addWay(way) : s;
  }

  Status addWay(const Way &way) {
    uint64_t blocks = 1; // the most of a rank
    for (size_t r = 0; r < units_.ranks.size(); ++r)
      blocks = std::max(blocks, units_.ranks[r].count(way.schedule.ranks[r]));
    Result<uint64_t> most = mostBytes(way.schedule, blocks);
    if (!most)
      return most.status();
    size_t self = index(request_.rank);
    Result<Dag> dag = withLengths(way.schedule.ranks[self], units_.ranks[self]);
    if (!dag)
      return dag.status();
    GraphExchange made = straight(way.name, way.ns);
    made.isBetter = made.isBetter && *most > 0;
    made.capacityBytes = *most > 0 ? *most : kShortBytes;
    if (made.capacityBytes * blocks > kMostMemory)
      return {};
    made.passes = way.passes;
    made.round = rounds_;
    uint64_t n = made.capacityBytes;
    made.schedule = RankSchedule(request_.rank, dag.take(), {n, n, n});
    found_.push_back(std::move(made));
    return {};
  }

  /// The most bytes of the longest message, a power of two, for which `after` is the better
  /// schedule and no rank needs too much memory. 0: none.
  Result<uint64_t> mostBytes(const Schedule &after, uint64_t blocks) const {
    for (uint64_t bytes = kMostBytes; bytes >= 64; bytes /= 2) {
      if (blocks * bytes > kMostMemory)
        continue;
      std::vector<Sizes> sizes = sizesFor(bytes / units_.most);
      Result<uint64_t> old = cost_.makespanNs(written_, sizes, request_.topology);
      Result<uint64_t> now = cost_.makespanNs(after, sizes, request_.topology);
      if (!old || !now)
        return old ? now.status() : old.status();
      if (isBetterTime(*now, *old))
        return bytes;
    }
    return 0;
  }

  const GraphExchangeRequest &request_;
  Schedule written_;
  Units units_;
  PortGraph ports_;
  PeerLists from_;
  CostModel cost_;
  std::vector<Sizes> sizes_;
  DagContext context_{request_.topology, sizes_, cost_};
  uint64_t beforeNs_ = 0;
  std::vector<uint32_t> rounds_; ///< of this rank; empty: the order of the peers is as good
  std::vector<GraphExchange> found_;
};

} // namespace

uint64_t searchNs(const PeerLists &peers, bool wantsAll) {
  uint64_t messages = 0;
  for (const std::vector<uint32_t> &list : peers)
    messages += list.size();
  return messages * (wantsAll ? kAllWaysNsPerMessage : kSearchNsPerMessage);
}

Result<std::vector<GraphExchange>> waysAlong(Library &library,
                                             const GraphExchangeRequest &request) {
  PeerLists from = sources(request.peers);
  GivenGraph graph = graphOf(request.peers, from);
  Result<Schedule> written = asWritten(library, request, graph);
  if (!written)
    return written.status();
  Units units = unitsOf(request, from);
  for (size_t r = 0; r < units.ranks.size(); ++r)
    stretch(written->ranks[r], units.ranks[r]);
  return Search(request, written.take(), std::move(units)).run();
}

} // namespace colldsl
