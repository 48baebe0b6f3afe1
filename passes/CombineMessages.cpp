#include "passes/CombineMessages.h"

#include "passes/Reroute.h"

#include <algorithm>
#include <map>

namespace colldsl {

void CombineMessages::describe(PassOptions &options) {
  options.choice("by", "pair|node|dimension", "what goes together (default: pair)", by,
                 {"pair", "node", "dimension"});
  options.choice("leaders", "spread|busiest",
                 "node: which ranks gather and hand out (default: spread)", leaders,
                 {"spread", "busiest"});
  options.numbers("dims", "NxN...", "dimension: the grid, its last dimension the fastest", dims);
}

namespace {

using Paths = std::vector<MessagePath>;

/// Keeps the paths whose key several messages have. A single message has nothing to combine with.
template <typename Key, typename KeyOf> Paths severalOf(Paths paths, KeyOf keyOf) {
  std::map<Key, uint32_t> counts;
  for (const MessagePath &path : paths)
    ++counts[keyOf(path)];
  std::erase_if(paths, [&](const MessagePath &path) { return counts[keyOf(path)] < 2; });
  return paths;
}

using RankPair = std::pair<Rank, Rank>;

Paths byPair(Paths paths) {
  return severalOf<RankPair>(std::move(paths), [](const MessagePath &path) {
    return RankPair{path.ranks.front(), path.ranks.back()};
  });
}

using NodePair = std::pair<uint32_t, uint32_t>;

/// For each pair of nodes the rank that has most of the messages at one end; of several the lowest.
template <typename EndOf, typename NodesOf>
std::map<NodePair, Rank> busiest(const Paths &paths, EndOf endOf, NodesOf nodesOf) {
  std::map<NodePair, std::map<Rank, uint32_t>> counts;
  for (const MessagePath &path : paths)
    ++counts[nodesOf(path)][endOf(path)];
  std::map<NodePair, Rank> most;
  for (const auto &[nodes, ends] : counts)
    most[nodes] = std::max_element(ends.begin(), ends.end(), [](const auto &a, const auto &b) {
                    return a.second < b.second;
                  })->first;
  return most;
}

Paths byNode(Paths paths, const Topology &topology, CombineMessages::Leaders leaders) {
  auto nodes = [&](const MessagePath &path) {
    return NodePair{topology.groupOf(Level::Node, path.ranks.front()),
                    topology.groupOf(Level::Node, path.ranks.back())};
  };
  std::erase_if(paths, [&](const MessagePath &p) { return nodes(p).first == nodes(p).second; });
  paths = severalOf<NodePair>(std::move(paths), nodes);
  bool isSpread = leaders == CombineMessages::Leaders::Spread;
  auto gathering = busiest(
      paths, [](const MessagePath &p) { return p.ranks.front(); }, nodes);
  auto handing = busiest(
      paths, [](const MessagePath &p) { return p.ranks.back(); }, nodes);
  for (MessagePath &path : paths) {
    auto [a, b] = nodes(path);
    auto senders = topology.members(Level::Node, a), takers = topology.members(Level::Node, b);
    Rank from = path.ranks.front(), to = path.ranks.back();
    Rank gathers = isSpread ? senders[b % senders.size()] : gathering[{a, b}];
    Rank hands = isSpread ? takers[a % takers.size()] : handing[{a, b}];
    path.ranks.clear();
    path.steps.clear();
    if (from != gathers) {
      path.ranks.push_back(from);
      path.steps.push_back(0);
    }
    path.ranks.push_back(gathers);
    path.steps.push_back(1);
    path.ranks.push_back(hands);
    if (to != hands) {
      path.ranks.push_back(to);
      path.steps.push_back(2);
    }
  }
  return paths;
}

/// Leads each path from its first rank to its last along the dimensions, one coordinate after the
/// other.
Paths byDimension(Paths paths, const std::vector<uint32_t> &dims) {
  for (MessagePath &path : paths) {
    uint32_t at = index(path.ranks.front()), to = index(path.ranks.back());
    path.ranks = {Rank{at}};
    path.steps.clear();
    uint32_t stride = 1;
    for (uint32_t d = static_cast<uint32_t>(dims.size()); d-- > 0; stride *= dims[d]) {
      uint32_t here = at / stride % dims[d], there = to / stride % dims[d];
      if (here == there)
        continue;
      at = at - here * stride + there * stride;
      path.ranks.push_back(Rank{at});
      path.steps.push_back(static_cast<uint32_t>(dims.size()) - d);
    }
  }
  return paths;
}

Status checkGrid(const std::vector<uint32_t> &dims, uint32_t ranks) {
  std::string schedule = "the schedule has " + std::to_string(ranks) + " ranks";
  if (dims.empty())
    return Status::error("dims: no grid is given, such as dims=4x4; " + schedule);
  std::string grid;
  uint64_t size = 1;
  for (uint32_t dim : dims) {
    grid += (grid.empty() ? "" : "x") + std::to_string(dim);
    size = std::min<uint64_t>(size * dim, UINT32_MAX);
  }
  return size == ranks ? Status()
                       : Status::error("dims: the grid " + grid + " does not fit: " + schedule);
}

} // namespace

Result<DagOutcome> combineMessages(Schedule schedule, const CombineMessages &options,
                                   const DagContext &context) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  std::vector<uint32_t> chosen = reroutable(schedule, *messages);
  std::vector<uint32_t> payloads = samePayloads(schedule, *messages, chosen);
  Paths paths;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const MessageEnds &m = (*messages)[chosen[i]];
    paths.push_back({chosen[i], payloads[i], {m.from, m.to}, {0}});
  }
  switch (options.by) {
  case CombineMessages::By::Pair:
    paths = byPair(std::move(paths));
    break;
  case CombineMessages::By::Node:
    paths = byNode(std::move(paths), context.topology, options.leaders);
    break;
  case CombineMessages::By::Dimension:
    if (Status s = checkGrid(options.dims, schedule.numRanks()); !s)
      return s;
    paths = byDimension(std::move(paths), options.dims);
    break;
  }
  Result<Schedule> made = reroute(schedule, *messages, paths);
  if (!made)
    return made.status();
  size_t now = messagesOf(*made)->size();
  DagOutcome outcome{made.take(),
                     std::to_string(messages->size()) + " messages, then " + std::to_string(now)};
  return keepFaster(std::move(schedule), std::move(outcome), context);
}

} // namespace colldsl
