#include "passes/TreeRebalance.h"

#include "passes/BestTree.h"
#include "passes/Reroute.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace colldsl {

void TreeRebalance::describe(PassOptions &options) {
  options.choice("rule", "optimal|published", "how messages move (default: optimal)", rule,
                 {"optimal", "published"});
  options.number("t", "N", "published: the most that outdegrees may differ by (default: 2)", t);
  options.number("sources", "N", "optimal: so many of the busiest ranks (default: 16)", sources);
}

namespace {

/// The messages that may be moved, and their paths.
struct Traffic {
  std::vector<MessageEnds> messages;
  std::vector<MessagePath> paths;          ///< of those that may be moved
  std::vector<uint64_t> bytes;             ///< of each path's message
  std::vector<std::vector<uint32_t>> sent; ///< per rank, the paths whose last hop it is
  std::vector<uint32_t> fixed;             ///< per rank, sends that stay where they are
};

Result<Traffic> trafficOf(const Schedule &schedule, const std::vector<Sizes> &sizes) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  Traffic traffic{messages.take(), {}, {}, {}, {}};
  std::vector<uint32_t> chosen = reroutable(schedule, traffic.messages);
  std::vector<uint32_t> payloads = samePayloads(schedule, traffic.messages, chosen);
  traffic.sent.resize(schedule.numRanks());
  traffic.fixed.assign(schedule.numRanks(), 0);
  for (const MessageEnds &m : traffic.messages)
    ++traffic.fixed[index(m.from)];
  for (size_t i = 0; i < chosen.size(); ++i) {
    const MessageEnds &m = traffic.messages[chosen[i]];
    const Dag &dag = schedule.ranks[index(m.from)];
    uint64_t bytes = payloadBytes(dag, dag.op(m.send), sizesOf(sizes, m.from));
    if (bytes == 0)
      continue;
    traffic.sent[index(m.from)].push_back(static_cast<uint32_t>(traffic.paths.size()));
    traffic.paths.push_back({chosen[i], payloads[i], {m.from, m.to}, {0}});
    traffic.bytes.push_back(bytes);
    --traffic.fixed[index(m.from)];
  }
  return traffic;
}

/// True if all messages that the rank sends itself carry one payload.
bool isBroadcast(const Traffic &traffic, uint32_t rank) {
  std::set<uint32_t> payloads;
  for (uint32_t p : traffic.sent[rank])
    payloads.insert(traffic.paths[p].payload);
  return payloads.size() == 1;
}

uint64_t largest(const Traffic &traffic, const std::vector<uint32_t> &paths) {
  uint64_t bytes = 0;
  for (uint32_t p : paths)
    bytes = std::max(bytes, traffic.bytes[p]);
  return bytes;
}

/// The parameters between a rank and the farthest one that it sends to.
const LogGop &farthest(const Traffic &traffic, uint32_t rank, const std::vector<uint32_t> &paths,
                       const DagContext &context) {
  std::vector<Rank> receivers;
  for (uint32_t p : paths)
    receivers.push_back(traffic.paths[p].ranks.back());
  return context.cost.farthest(Rank{rank}, receivers, context.topology);
}

std::vector<MessagePath> movedOnly(const Traffic &traffic) {
  std::vector<MessagePath> moved;
  std::set<Rank> touched; // a tree's direct messages keep their place in its order
  for (const MessagePath &path : traffic.paths)
    if (path.ranks.size() > 2)
      touched.insert(path.ranks[0]);
  for (const MessagePath &path : traffic.paths)
    if (touched.count(path.ranks[0]))
      moved.push_back(path);
  return moved;
}

class PublishedRule {
public:
  PublishedRule(Traffic &traffic, const TreeRebalance &options, const DagContext &context)
      : traffic_(traffic), options_(options), context_(context) {}

  uint32_t run() {
    uint32_t moves = 0;
    auto ranks = static_cast<uint32_t>(traffic_.sent.size());
    // Each move takes messages off the busiest rank; more would be an endless loop.
    for (uint32_t left = 4 * ranks; left > 0; --left, ++moves)
      if (!moveOnce())
        break;
    return moves;
  }

private:
  uint64_t degree(uint32_t rank) const { return traffic_.sent[rank].size() + traffic_.fixed[rank]; }

  bool moveOnce() {
    uint32_t most = 0, fewest = 0;
    for (uint32_t r = 1; r < traffic_.sent.size(); ++r) {
      if (degree(r) > degree(most))
        most = r;
      if (degree(r) < degree(fewest))
        fewest = r;
    }
    uint64_t m = degree(most), s = degree(fewest);
    if (m - s <= options_.t)
      return false;
    if (isBroadcast(traffic_, most)) // any of its receivers has the bytes already
      fewest = leastBusyReceiver(most, fewest);
    uint64_t count = (m - s) / 2, lost = lostTo(most);
    if (count <= lost)
      return false;
    return move(most, fewest, count - lost) > 0;
  }

  uint64_t lostTo(uint32_t rank) const {
    const std::vector<uint32_t> &paths = traffic_.sent[rank];
    const LogGop &p = farthest(traffic_, rank, paths, context_);
    uint64_t cost = p.o;
    if (isBroadcast(traffic_, rank))
      cost += p.G.times(LogGop::furtherBytes(largest(traffic_, paths)));
    return cost == 0 ? 0 : (p.L + cost - 1) / cost;
  }

  uint32_t leastBusyReceiver(uint32_t rank, uint32_t otherwise) const {
    uint32_t best = otherwise;
    uint64_t least = UINT64_MAX;
    for (uint32_t p : traffic_.sent[rank]) {
      uint32_t to = index(traffic_.paths[p].ranks.back());
      if (degree(to) < least) {
        least = degree(to);
        best = to;
      }
    }
    return best;
  }

  size_t move(uint32_t from, uint32_t over, uint64_t count) {
    std::vector<uint32_t> &paths = traffic_.sent[from];
    size_t moved = 0;
    for (size_t i = paths.size(); i-- > 0 && moved < count;) {
      MessagePath &path = traffic_.paths[paths[i]];
      if (std::find(path.ranks.begin(), path.ranks.end(), Rank{over}) != path.ranks.end())
        continue;
      path.ranks.insert(path.ranks.end() - 1, Rank{over});
      path.steps.push_back(path.steps.back() + 1);
      traffic_.sent[over].push_back(paths[i]);
      paths.erase(paths.begin() + static_cast<ptrdiff_t>(i));
      ++moved;
    }
    return moved;
  }

  Traffic &traffic_;
  const TreeRebalance &options_;
  const DagContext &context_;
};

/// Puts the best tree over the receivers of a rank. Receivers with the least load of their own get
/// the places that pass on the most.
void plantTree(Traffic &traffic, uint32_t root, const DagContext &context) {
  std::vector<uint32_t> paths; // one for each receiver
  std::set<Rank> receivers;
  for (uint32_t p : traffic.sent[root])
    if (receivers.insert(traffic.paths[p].ranks.back()).second)
      paths.push_back(p);
  auto size = static_cast<uint32_t>(paths.size() + 1);
  TreeUse use = isBroadcast(traffic, root) ? TreeUse::Broadcast : TreeUse::Scatter;
  const LogGop &p = farthest(traffic, root, paths, context);
  std::vector<BestTree::Edge> edges = BestTree(p, use, size, largest(traffic, paths)).edges();
  std::vector<BestTree::Edge> bySize = edges;
  std::stable_sort(bySize.begin(), bySize.end(),
                   [](const auto &a, const auto &b) { return a.below > b.below; });
  auto busy = [&](uint32_t p) {
    uint32_t to = index(traffic.paths[p].ranks.back());
    return traffic.sent[to].size() + traffic.fixed[to];
  };
  std::stable_sort(paths.begin(), paths.end(),
                   [&](uint32_t a, uint32_t b) { return busy(a) < busy(b); });
  std::vector<uint32_t> pathAt(size); // of each place of the tree
  for (size_t i = 0; i < paths.size(); ++i)
    pathAt[bySize[i].child] = paths[i];
  std::vector<MessagePath> wayTo(size); // ranks and steps alone
  wayTo[0].ranks = {Rank{root}};
  for (uint32_t i = 0; i < edges.size(); ++i) { // a parent is notified before it notifies others
    MessagePath &path = traffic.paths[pathAt[edges[i].child]];
    MessagePath way = wayTo[edges[i].parent];
    way.ranks.push_back(path.ranks.back());
    way.steps.push_back(i);
    path.ranks = way.ranks;
    path.steps = way.steps;
    wayTo[edges[i].child] = std::move(way);
  }
}

Result<DagOutcome> plantTrees(Schedule schedule, Traffic traffic, const TreeRebalance &options,
                              const DagContext &context) {
  Result<uint64_t> time = timeOf(schedule, context);
  if (!time)
    return time.status();
  std::vector<uint32_t> ranks(traffic.sent.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  std::stable_sort(ranks.begin(), ranks.end(), [&](uint32_t a, uint32_t b) {
    return traffic.sent[a].size() > traffic.sent[b].size();
  });
  DagOutcome best{schedule, {}};
  uint32_t trees = 0;
  for (size_t i = 0; i < ranks.size() && i < options.sources; ++i) {
    if (traffic.sent[ranks[i]].size() < 2)
      break;
    Traffic tried = traffic;
    plantTree(tried, ranks[i], context);
    Result<Schedule> made = reroute(schedule, tried.messages, movedOnly(tried));
    if (!made)
      return made.status();
    Result<uint64_t> now = timeOf(*made, context);
    if (!now)
      return now.status();
    if (*now >= *time)
      continue;
    traffic = std::move(tried);
    best.schedule = made.take();
    time = now;
    ++trees;
  }
  best.remark = std::to_string(trees) + " trees";
  return best;
}

Result<DagOutcome> moveAsPublished(const Schedule &schedule, Traffic traffic,
                                   const TreeRebalance &options, const DagContext &context) {
  uint32_t moves = PublishedRule(traffic, options, context).run();
  Result<Schedule> made = reroute(schedule, traffic.messages, movedOnly(traffic));
  if (!made)
    return made.status();
  return DagOutcome{made.take(), std::to_string(moves) + " moves"};
}

} // namespace

Result<DagOutcome> rebalance(Schedule schedule, const TreeRebalance &options,
                             const DagContext &context) {
  Result<Traffic> traffic = trafficOf(schedule, context.sizes);
  if (!traffic)
    return traffic.status();
  Result<DagOutcome> outcome = moveAsPublished(schedule, *traffic, options, context);
  if (outcome && options.rule == TreeRebalance::Rule::Optimal) {
    Result<DagOutcome> planted = plantTrees(schedule, traffic.take(), options, context);
    if (!planted)
      return planted.status();
    Result<uint64_t> moved = timeOf(outcome->schedule, context);
    Result<uint64_t> grown = timeOf(planted->schedule, context);
    if (!moved || !grown)
      return moved ? grown.status() : moved.status();
    if (*grown <= *moved)
      outcome = planted.take();
  }
  if (!outcome)
    return outcome.status();
  return keepFaster(std::move(schedule), outcome.take(), context);
}

} // namespace colldsl
