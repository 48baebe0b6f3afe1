#include "formats/MscclBlocks.h"

#include "formats/MscclOrder.h"

#include <algorithm>
#include <map>
#include <set>

namespace colldsl::msccl {
namespace {

constexpr size_t kMaxLocal = 64;   ///< local steps of a threadblock without peers
constexpr size_t kMaxGuests = 160; ///< steps of one with peers, for a local step to join

/// Messages one way between this rank and a peer, on one channel.
struct Connection {
  uint32_t peer = 0;
  uint32_t channel = 0;
  auto operator<=>(const Connection &) const = default;
};

class BlockPlanner {
public:
  BlockPlanner(const Schedule &schedule, Nodes &nodes, uint32_t rank)
      : dag_(schedule.ranks[rank]), nodes_(nodes), rank_(rank) {}
  std::vector<BlockPlan> run();

private:
  struct Traffic {
    std::vector<uint32_t> nodes; ///< by level
    bool isSingle = true;        ///< each message one chunk
    size_t block = SIZE_MAX;     ///< its threadblock
  };
  using Pair = std::pair<Connection, Connection>; ///< receives from, sends to

  Connection connectionOf(const Node &node) const {
    return {nodes_[node.partner].rank, node.channel};
  }
  void collect();
  uint32_t receiveBefore(const Node &send) const;
  void makeBlocks();
  std::vector<Pair> pairs();
  void join(const Pair &pair);
  bool canJoin(uint32_t send, uint32_t recv, uint32_t previous) const;
  size_t addBlock(int32_t sendPeer, int32_t recvPeer, uint32_t channel);
  void placeMessages();
  void placeLocal(uint32_t node);
  void dropStores();

  const Dag &dag_;
  Nodes &nodes_;
  uint32_t rank_;
  std::map<Connection, Traffic> sends_, recvs_;
  std::vector<BlockPlan> blocks_;
  std::map<uint32_t, size_t> blockOf_; ///< per node
  size_t local_ = SIZE_MAX;            ///< the threadblock without peers that has room
};

void BlockPlanner::collect() {
  for (uint32_t i : nodes_.perRank[rank_]) {
    const Node &node = nodes_[i];
    if (node.partner == Node::kNoNode)
      continue;
    Traffic &traffic = (node.kind == StepKind::Send ? sends_ : recvs_)[connectionOf(node)];
    traffic.nodes.push_back(i);
    traffic.isSingle = traffic.isSingle && node.count == 1;
  }
  for (auto *all : {&sends_, &recvs_})
    for (auto &[connection, traffic] : *all)
      std::ranges::sort(traffic.nodes, {}, [&](uint32_t i) { return nodes_[i].level; });
}

/// The receive, among those that the send waits for, whose data it sends on.
uint32_t BlockPlanner::receiveBefore(const Node &send) const {
  auto found = std::ranges::find_if(send.waits, [&](uint32_t i) {
    return receives(nodes_[i].kind) && nodes_[i].target == send.source;
  });
  return found == send.waits.end() ? Node::kNoNode : *found;
}

// Connections to join, those with most to join first, each in one pair.
std::vector<BlockPlanner::Pair> BlockPlanner::pairs() {
  std::map<Pair, uint32_t> counts;
  for (const auto &[to, traffic] : sends_)
    for (uint32_t i : traffic.nodes) {
      uint32_t recv = receiveBefore(nodes_[i]);
      if (recv == Node::kNoNode || !traffic.isSingle)
        continue;
      Connection from = connectionOf(nodes_[recv]);
      if (from.channel == to.channel && recvs_[from].isSingle)
        ++counts[{from, to}];
    }
  std::vector<std::pair<uint32_t, Pair>> sorted;
  for (const auto &[pair, count] : counts)
    sorted.push_back({UINT32_MAX - count, pair});
  std::ranges::sort(sorted);
  std::set<Connection> from, to;
  std::vector<Pair> chosen;
  for (const auto &[rest, pair] : sorted)
    if (!from.contains(pair.first) && !to.contains(pair.second)) {
      from.insert(pair.first);
      to.insert(pair.second);
      chosen.push_back(pair);
    }
  return chosen;
}

// True if a send can be joined to a receive. It would then happen at the receive's place in the
// order, which is earlier than its own. So all else that it waits for must be over by then, the
// message before it on its connection sent, and no other one on its way.
bool BlockPlanner::canJoin(uint32_t send, uint32_t recv, uint32_t previous) const {
  const Node &first = nodes_[recv], &second = nodes_[send];
  if (first.joined != Node::kNoNode)
    return false;
  for (uint32_t i : second.waits)
    if (i != recv && nodes_[i].level >= first.level)
      return false;
  if (previous == Node::kNoNode)
    return true;
  const Node &before = nodes_[previous];
  bool isSent = !before.isJoinedSend() || nodes_[before.joined].level < first.level;
  return isSent && before.level <= first.level;
}

void BlockPlanner::join(const Pair &pair) {
  uint32_t previous = Node::kNoNode;
  for (uint32_t i : sends_[pair.second].nodes) {
    uint32_t recv = receiveBefore(nodes_[i]);
    if (recv != Node::kNoNode && connectionOf(nodes_[recv]) == pair.first &&
        canJoin(i, recv, previous)) {
      nodes_[i].joined = recv;
      nodes_[recv].joined = i;
    }
    previous = i;
  }
}

size_t BlockPlanner::addBlock(int32_t sendPeer, int32_t recvPeer, uint32_t channel) {
  blocks_.push_back({sendPeer, recvPeer, channel, {}});
  return blocks_.size() - 1;
}

void BlockPlanner::makeBlocks() {
  for (const Pair &pair : pairs()) {
    join(pair);
    size_t block = addBlock(static_cast<int32_t>(pair.second.peer),
                            static_cast<int32_t>(pair.first.peer), pair.first.channel);
    sends_[pair.second].block = recvs_[pair.first].block = block;
  }
  for (auto &[to, traffic] : sends_)
    if (traffic.block == SIZE_MAX)
      traffic.block = addBlock(static_cast<int32_t>(to.peer), -1, to.channel);
  for (auto &[from, traffic] : recvs_)
    if (traffic.block == SIZE_MAX)
      traffic.block = addBlock(-1, static_cast<int32_t>(from.peer), from.channel);
}

void BlockPlanner::placeMessages() {
  for (const auto *all : {&sends_, &recvs_})
    for (const auto &[connection, traffic] : *all)
      for (uint32_t i : traffic.nodes) {
        blockOf_[i] = traffic.block;
        if (!nodes_[i].isJoinedSend())
          blocks_[traffic.block].nodes.push_back(i);
      }
}

// Puts a local step into the threadblock of the last step that it waits for, which saves one
// dependency.
void BlockPlanner::placeLocal(uint32_t i) {
  const Node &node = nodes_[i];
  auto last = std::ranges::max_element(node.waits, {},
                                       [&](uint32_t w) { return std::pair(nodes_[w].level, w); });
  size_t block = last == node.waits.end() ? SIZE_MAX : blockOf_[*last];
  if (block == SIZE_MAX || blocks_[block].nodes.size() >= kMaxGuests) {
    if (local_ == SIZE_MAX || blocks_[local_].nodes.size() >= kMaxLocal)
      local_ = addBlock(-1, -1, 0);
    block = local_;
  }
  blockOf_[i] = block;
  blocks_[block].nodes.push_back(i);
}

// Drops stores of data that a rank only passes on: chunks of a temporary that are touched only by
// receives that send them on.
void BlockPlanner::dropStores() {
  struct Access {
    Range range;
    uint32_t node;
  };
  std::vector<Access> accesses;
  for (uint32_t i : nodes_.perRank[rank_])
    for (const Range &range : {nodes_[i].source, nodes_[i].target})
      if (range.buffer != kNoBuffer && dag_.buffers[index(range.buffer)].role == BufferRole::Temp)
        accesses.push_back({range, i});
  std::ranges::sort(accesses, {},
                    [](const Access &a) { return std::pair(a.range.buffer, a.range.begin); });
  auto isPassed = [&](const Access &access, const Range &cluster) {
    const Node &node = nodes_[access.node];
    bool isReduced = node.kind == StepKind::RecvReduceCopy && !(node.source == node.target);
    return access.range == cluster && node.joined != Node::kNoNode &&
           (node.isJoinedSend() || (isReduced && node.target == cluster));
  };
  for (size_t begin = 0, end = 0; begin < accesses.size(); begin = end) {
    Range cluster = accesses[begin].range;
    bool isPrivate = true;
    for (end = begin;
         end < accesses.size() && (end == begin || accesses[end].range.overlaps(cluster)); ++end) {
      isPrivate = isPrivate && isPassed(accesses[end], cluster);
      cluster.end = std::max(cluster.end, accesses[end].range.end);
    }
    for (size_t i = begin; i < end && isPrivate; ++i)
      nodes_[accesses[i].node].isStored = false;
  }
}

std::vector<BlockPlan> BlockPlanner::run() {
  collect();
  makeBlocks();
  placeMessages();
  std::vector<uint32_t> byLevel = nodes_.perRank[rank_];
  auto place = [&](uint32_t i) { return placeInOrder(nodes_, i); };
  std::ranges::sort(byLevel, {}, place);
  for (uint32_t i : byLevel)
    if (nodes_[i].partner == Node::kNoNode)
      placeLocal(i);
  for (BlockPlan &block : blocks_)
    std::ranges::sort(block.nodes, {}, place);
  dropStores();
  return std::move(blocks_);
}

} // namespace

std::vector<BlockPlan> planBlocks(const Schedule &schedule, Nodes &nodes, uint32_t rank) {
  return BlockPlanner(schedule, nodes, rank).run();
}

} // namespace colldsl::msccl
