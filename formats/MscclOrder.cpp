#include "formats/MscclOrder.h"
#include "ir/Index32.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

namespace colldsl::msccl {
namespace {

/// The events that wait for each event.
struct Successors {
  explicit Successors(const Nodes &nodes) : begin(nodes.events + size_t{1}), open(nodes.events) {
    auto forEachEdge = [&](auto visit) {
      for (const Node &node : nodes.nodes)
        for (uint32_t before : node.waits)
          visit(nodes[before].event, node.event);
    };
    forEachEdge([&](uint32_t before, uint32_t after) {
      ++begin[before + size_t{1}];
      ++open[after];
    });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    events.resize(begin.back());
    std::vector<size_t> cursor(begin.begin(), begin.end() - 1);
    forEachEdge([&](uint32_t before, uint32_t after) { events[cursor[before]++] = after; });
  }
  std::span<const uint32_t> of(uint32_t event) const {
    return {events.data() + begin[event], begin[event + size_t{1}] - begin[event]};
  }

  std::vector<size_t> begin;
  std::vector<uint32_t> open; ///< per event: edges that lead there
  std::vector<uint32_t> events;
};

/// Calls visit(event, node) for one node of each event, of a message its send.
template <typename Visit> void forEachEvent(const Nodes &nodes, Visit visit) {
  for (const Node &node : nodes.nodes)
    if (!receives(node.kind))
      visit(node.event, node);
}

class Leveller {
public:
  explicit Leveller(Nodes &nodes)
      : nodes_(nodes), successors_(nodes), levels_(nodes.events, 0), nodeOf_(nodes.events) {
    forEachEvent(nodes, [&](uint32_t event, const Node &node) { nodeOf_[event] = &node; });
  }
  bool run();

private:
  uint32_t finalLevel(uint32_t event);

  Nodes &nodes_;
  Successors successors_;
  std::vector<uint32_t> levels_;
  std::vector<const Node *> nodeOf_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> next_; ///< per connection
};

uint32_t Leveller::finalLevel(uint32_t event) {
  const Node &node = *nodeOf_[event];
  if (node.kind != StepKind::Send)
    return levels_[event];
  uint32_t &next = next_[{node.rank, nodes_[node.partner].rank, node.channel}];
  uint32_t level = std::max(levels_[event], next);
  next = level + 1;
  return level;
}

// Kahn 1962, with a heap, so that messages come to their connection by level.
bool Leveller::run() {
  using Entry = std::pair<uint32_t, uint32_t>; // level, event
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (uint32_t event = 0; event < nodes_.events; ++event)
    if (successors_.open[event] == 0)
      ready.push({0, event});
  std::vector<bool> isDone(nodes_.events);
  size_t count = 0;
  while (!ready.empty()) {
    uint32_t event = ready.top().second;
    ready.pop();
    levels_[event] = finalLevel(event);
    isDone[event] = true;
    ++count;
    for (uint32_t next : successors_.of(event)) {
      levels_[next] = std::max(levels_[next], levels_[event] + 1);
      if (--successors_.open[next] == 0)
        ready.push({levels_[next], next});
    }
  }
  for (Node &node : nodes_.nodes)
    node.level = isDone[node.event] ? levels_[node.event] : UINT32_MAX;
  return count == nodes_.events;
}

// The block of a peer, by distance around the ranks: both ends compute the same one, and no rank
// has more than kMaxPeers in a block.
uint32_t peerBlock(uint32_t from, uint32_t to, uint32_t ranks) {
  return ((to + ranks - from) % ranks - 1) / kMaxPeers;
}

} // namespace

uint32_t assignChannels(Nodes &nodes, uint32_t channelsPerBlock) {
  auto ranks = index32(nodes.perRank.size());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> messages; // per pair of ranks
  std::vector<uint32_t> sendPeers(ranks), recvPeers(ranks);
  for (const Node &node : nodes.nodes)
    if (node.kind == StepKind::Send && messages[{node.rank, nodes[node.partner].rank}]++ == 0) {
      ++sendPeers[node.rank];
      ++recvPeers[nodes[node.partner].rank];
    }
  bool isSplit = std::max(*std::ranges::max_element(sendPeers),
                          *std::ranges::max_element(recvPeers)) > kMaxPeers;
  uint32_t most = 0;
  for (Node &node : nodes.nodes) {
    if (node.kind != StepKind::Send)
      continue;
    uint32_t to = nodes[node.partner].rank;
    uint32_t inBlock = node.message % channelsPerBlock;
    uint32_t block = isSplit ? peerBlock(node.rank, to, ranks) : 0;
    node.channel = nodes[node.partner].channel = block * channelsPerBlock + inBlock;
    most = std::max(most, node.channel);
  }
  return most + 1;
}

bool assignLevels(Nodes &nodes) { return Leveller(nodes).run(); }

std::tuple<uint32_t, uint32_t, OpId, uint32_t> placeInOrder(const Nodes &nodes, uint32_t i) {
  const Node &node = nodes[nodes[i].isJoinedSend() ? nodes[i].joined : i];
  uint32_t kind = receives(node.kind) ? 2 : sends(node.kind) ? 1 : 0;
  return {node.level, kind, node.op, i};
}

} // namespace colldsl::msccl
