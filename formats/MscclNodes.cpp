#include "formats/MscclNodes.h"

#include "formats/MscclFusion.h"
#include "ir/Concat.h"
#include "ir/Index32.h"

#include <algorithm>
#include <tuple>

namespace colldsl::msccl {
namespace {

/// Cuts several lists of ranges of one total length at the ends of all their ranges, and
/// where a piece would be too long for a step.
class Cutter {
public:
  explicit Cutter(std::vector<std::vector<Range>> lists)
      : lists_(std::move(lists)), heads_(lists_.size()) {}

  /// The next piece of each list; none at their end.
  std::vector<Range> next() {
    uint32_t size = kMaxCount;
    for (size_t i = 0; i < lists_.size(); ++i) {
      if (heads_[i] == lists_[i].size())
        return {};
      size = std::min(size, lists_[i][heads_[i]].size());
    }
    std::vector<Range> pieces;
    for (size_t i = 0; i < lists_.size(); ++i) {
      Range &head = lists_[i][heads_[i]];
      pieces.push_back({head.buffer, head.begin, head.begin + size});
      head.begin += size;
      heads_[i] += head.size() == 0;
    }
    return pieces;
  }

private:
  std::vector<std::vector<Range>> lists_;
  std::vector<size_t> heads_;
};

uint64_t total(const std::vector<Range> &ranges) {
  uint64_t chunks = 0;
  for (const Range &range : ranges)
    chunks += range.size();
  return chunks;
}

/// A message end, to find the other.
struct End {
  uint32_t from, to;
  MessageId message;
  OpId op;
  auto key() const { return std::tie(from, to, message); }
  bool operator<(const End &other) const { return key() < other.key(); }
};

class NodeMaker {
public:
  NodeMaker(const Schedule &schedule, const Chunks &chunks, bool fuses)
      : schedule_(schedule), chunks_(chunks), fuses_(fuses) {}
  Result<Nodes> run();

private:
  /// The nodes of an op: a chain, or none. If there are none, a wait for the op becomes waits for
  /// all that it waits for.
  struct Chain {
    uint32_t first = Node::kNoNode;
    uint32_t last = Node::kNoNode;
    bool isEmpty() const { return first == Node::kNoNode; }
  };

  Status checkOps(uint32_t rank) const;
  Status checkOp(uint32_t rank, OpId id) const;
  Status checkCombine(uint32_t rank, OpId id) const;
  Status checkDeps(uint32_t rank, OpId id) const;
  Status matchMessages();
  Status addMessage(const End &send, const End &recv);
  void addLocal(uint32_t rank, OpId id);
  uint32_t append(uint32_t rank, OpId id, Node node, Chain &chain);
  void addWaits(uint32_t rank);
  void addWaitsOf(uint32_t rank, OpId id, uint32_t node);
  void sortRanks();

  const Op &op(uint32_t rank, OpId id) const { return schedule_.ranks[rank].op(id); }
  std::vector<Range> sources(uint32_t rank, const Op &op) const {
    return chunks_.ranges(schedule_.ranks[rank], schedule_.ranks[rank].sources(op));
  }
  std::vector<Range> targets(uint32_t rank, const Op &op) const {
    return chunks_.ranges(schedule_.ranks[rank], schedule_.ranks[rank].targets(op));
  }

  const Schedule &schedule_;
  const Chunks &chunks_;
  bool fuses_;
  Nodes nodes_;
  std::vector<Fusion> fusions_;               ///< per rank
  std::vector<std::vector<Chain>> chains_;    ///< per rank and op
  std::vector<std::vector<uint32_t>> passed_; ///< of the rank at hand, per op without nodes
};

Status NodeMaker::checkCombine(uint32_t rank, OpId id) const {
  const Op &combine = op(rank, id);
  if (combine.reduction != Reduction::Sum)
    return refuseOp(
        schedule_, rank, id,
        concat("a combine by ", spelling(combine.reduction), ", its callers choose the operator"),
        "make the schedule for sum");
  for (const Range &source : sources(rank, combine))
    for (const Range &target : targets(rank, combine))
      if (source.overlaps(target))
        return refuseOp(schedule_, rank, id, "a combine of chunks with themselves");
  return {};
}

Status NodeMaker::checkDeps(uint32_t rank, OpId id) const {
  const Dag &dag = schedule_.ranks[rank];
  for (const Dep &dep : dag.depsOf(dag.op(id)))
    if (dep.kind == DepKind::IRequires && !sendsMessage(dag.op(dep.op).kind))
      return refuseOp(schedule_, rank, id,
                      concat("that it irequires l", index(dep.op), ", a ",
                             spelling(dag.op(dep.op).kind), ": steps wait for ends alone"));
  return {};
}

Status NodeMaker::checkOp(uint32_t rank, OpId id) const {
  const Op &at = op(rank, id);
  const Dag &dag = schedule_.ranks[rank];
  if (at.cpu != 0 || at.nic != 0)
    return refuseOp(schedule_, rank, id, "on which cpu or nic an op runs");
  switch (at.kind) {
  case OpKind::Signal:
  case OpKind::Wait:
    return refuseOp(schedule_, rank, id, concat("a ", spelling(at.kind), ": messages have chunks"));
  case OpKind::Calc:
    return at.amount == 0 ? Status()
                          : refuseOp(schedule_, rank, id, concat("a calc of ", at.amount, " ns"));
  case OpKind::Send:
  case OpKind::Recv:
    if (index(at.peer) == rank)
      return refuseOp(schedule_, rank, id,
                      concat("a ", spelling(at.kind), " of a rank with itself"));
    if (dag.sources(at).empty() && dag.targets(at).empty() && at.amount != 0)
      return refuseOp(schedule_, rank, id,
                      concat("a ", spelling(at.kind), " of ", at.amount, " bytes of no buffer"));
    return {};
  case OpKind::Combine:
    return checkCombine(rank, id);
  case OpKind::Copy:
    return {};
  }
  return {};
}

Status NodeMaker::checkOps(uint32_t rank) const {
  const Dag &dag = schedule_.ranks[rank];
  for (const Buffer &buffer : dag.buffers)
    if (buffer.layout != Layout::Dense || buffer.type != dag.buffers.front().type)
      return Status::error(concat("rank ", rank, ": MSCCL XML cannot say ", spelling(buffer.role),
                                  " ", schedule_.nameOf(buffer),
                                  buffer.layout == Layout::Dense
                                      ? ", which has another element type than the first buffer"
                                      : ", whose blocks have lengths of their own"));
  for (uint32_t i = 0; i < dag.size(); ++i) {
    Status s = checkOp(rank, OpId{i});
    if (s)
      s = checkDeps(rank, OpId{i});
    if (!s)
      return s;
  }
  return {};
}

uint32_t NodeMaker::append(uint32_t rank, OpId id, Node node, Chain &chain) {
  auto number = index32(nodes_.nodes.size());
  node.rank = rank;
  node.op = id;
  if (chain.isEmpty())
    chain.first = number;
  else
    node.waits.push_back(chain.last);
  chain.last = number;
  nodes_.perRank[rank].push_back(number);
  nodes_.nodes.push_back(std::move(node));
  return number;
}

// Adds the nodes of a local op. A copy of chunks onto themselves has none.
void NodeMaker::addLocal(uint32_t rank, OpId id) {
  const Op &at = op(rank, id);
  Cutter cutter({sources(rank, at), targets(rank, at)});
  for (auto piece = cutter.next(); !piece.empty(); piece = cutter.next()) {
    if (piece[0] == piece[1])
      continue;
    Node node;
    node.kind = at.kind == OpKind::Copy ? StepKind::Copy : StepKind::Reduce;
    node.source = piece[0];
    node.target = piece[1];
    node.count = piece[0].size();
    node.event = nodes_.events++;
    append(rank, id, std::move(node), chains_[rank][index(id)]);
  }
}

// Adds the nodes of a message. Both ends are cut alike. The third list holds the operands of a
// fused receive.
Status NodeMaker::addMessage(const End &sent, const End &received) {
  const Op &send = op(sent.from, sent.op), &recv = op(received.to, received.op);
  OpId combineId = fusions_[received.to].combineOf[index(received.op)];
  std::vector<Range> from = sources(sent.from, send), into = targets(received.to, recv), added;
  if (total(from) != total(into))
    return refuseOp(schedule_, sent.from, sent.op,
                    concat("a send of ", total(from), " chunks to a recv of ", total(into),
                           " (rank ", received.to, ", op l", index(received.op), ")"));
  if (combineId != kNoOp) {
    const Op &combine = op(received.to, combineId);
    bool addsToTarget = targets(received.to, combine) == into;
    added = addsToTarget ? sources(received.to, combine) : targets(received.to, combine);
    into = targets(received.to, combine);
  }
  Cutter cutter(combineId == kNoOp ? std::vector{from, into} : std::vector{from, into, added});
  for (auto piece = cutter.next(); !piece.empty(); piece = cutter.next()) {
    Node first, second;
    first.kind = StepKind::Send;
    first.source = piece[0];
    second.kind = combineId == kNoOp ? StepKind::Recv : StepKind::RecvReduceCopy;
    second.source = combineId == kNoOp ? Range() : piece[2];
    second.target = piece[1];
    first.count = second.count = piece[0].size();
    first.event = second.event = nodes_.events++;
    uint32_t a = append(sent.from, sent.op, std::move(first), chains_[sent.from][index(sent.op)]);
    uint32_t b = append(received.to, received.op, std::move(second),
                        chains_[received.to][index(received.op)]);
    nodes_[a].partner = b;
    nodes_[b].partner = a;
  }
  return {};
}

Status NodeMaker::matchMessages() {
  std::vector<End> sends, recvs;
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    for (uint32_t i = 0; i < schedule_.ranks[r].size(); ++i) {
      const Op &at = schedule_.ranks[r].ops[i];
      if (at.kind == OpKind::Send)
        sends.push_back({r, index(at.peer), at.message, OpId{i}});
      else if (at.kind == OpKind::Recv)
        recvs.push_back({index(at.peer), r, at.message, OpId{i}});
    }
  std::sort(sends.begin(), sends.end());
  std::sort(recvs.begin(), recvs.end());
  for (size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
    if (i == recvs.size() || (i < sends.size() && sends[i] < recvs[i]))
      return refuseOp(schedule_, sends[i].from, sends[i].op, "a send that meets no recv");
    if (i == sends.size() || recvs[i] < sends[i])
      return refuseOp(schedule_, recvs[i].to, recvs[i].op, "a recv that meets no send");
    if (Status s = addMessage(sends[i], recvs[i]); !s)
      return s;
  }
  return {};
}

// An op that irequires a send waits for all that the send waits for: the format cannot express more
// of a start, and data does not depend on it.
void NodeMaker::addWaitsOf(uint32_t rank, OpId id, uint32_t node) {
  const Dag &dag = schedule_.ranks[rank];
  auto add = [&](uint32_t other) {
    if (other != node)
      nodes_[node].waits.push_back(other);
  };
  for (const Dep &dep : dag.depsOf(dag.op(id))) {
    OpId recv = fusions_[rank].recvOf[index(dep.op)];
    const Chain &chain = chains_[rank][index(recv == kNoOp ? dep.op : recv)];
    if (!chain.isEmpty() && chain.first == node)
      continue; // the combine's own receive
    if (!chain.isEmpty() && dep.kind == DepKind::Requires)
      add(chain.last);
    else
      for (uint32_t other :
           std::vector(chain.isEmpty() ? passed_[index(dep.op)] : nodes_[chain.first].waits))
        add(other);
  }
}

// The first node of a chain gets the waits. An op without nodes passes on the ops that it waits
// for.
void NodeMaker::addWaits(uint32_t rank) {
  const Dag &dag = schedule_.ranks[rank];
  passed_.assign(dag.size(), {});
  for (uint32_t i = 0; i < dag.size(); ++i) {
    OpId recv = fusions_[rank].recvOf[i];
    const Chain &chain = chains_[rank][recv == kNoOp ? i : index(recv)];
    if (!chain.isEmpty()) {
      addWaitsOf(rank, OpId{i}, chain.first);
      continue;
    }
    auto unused = index32(nodes_.nodes.size());
    nodes_.nodes.emplace_back();
    addWaitsOf(rank, OpId{i}, unused);
    passed_[i] = std::move(nodes_.nodes.back().waits);
    nodes_.nodes.pop_back();
    std::ranges::sort(passed_[i]);
    passed_[i].erase(std::unique(passed_[i].begin(), passed_[i].end()), passed_[i].end());
  }
}

// Per rank in the order of the ops, and messages counted along each connection.
void NodeMaker::sortRanks() {
  for (std::vector<uint32_t> &nodes : nodes_.perRank) {
    std::ranges::sort(nodes, {}, [&](uint32_t i) { return std::pair(nodes_[i].op, i); });
    std::vector<uint32_t> sent(schedule_.numRanks());
    for (uint32_t i : nodes)
      if (nodes_[i].kind == StepKind::Send) {
        uint32_t partner = nodes_[i].partner;
        nodes_[i].message = nodes_[partner].message = sent[nodes_[partner].rank]++;
      }
  }
}

Result<Nodes> NodeMaker::run() {
  nodes_.perRank.resize(schedule_.numRanks());
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    const Dag &dag = schedule_.ranks[r];
    if (Status s = checkOps(r); !s)
      return s;
    std::vector<OpId> none(dag.size(), kNoOp);
    fusions_.push_back(fuses_ ? fuseReductions(dag, chunks_) : Fusion{none, none});
    chains_.emplace_back(dag.size());
  }
  if (Status s = matchMessages(); !s)
    return s;
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
    const Dag &dag = schedule_.ranks[r];
    for (uint32_t i = 0; i < dag.size(); ++i)
      if (bool isFused = fusions_[r].recvOf[i] != kNoOp;
          !isFused && (dag.ops[i].kind == OpKind::Copy || dag.ops[i].kind == OpKind::Combine))
        addLocal(r, OpId{i});
  }
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    addWaits(r);
  sortRanks();
  return std::move(nodes_);
}

} // namespace

Status refuseOp(const Schedule &schedule, uint32_t rank, OpId op, std::string_view why,
                std::string_view hint) {
  return Diagnostic::error(
      schedule.ranks[rank].op(op).loc,
      concat("rank ", rank, ", op l", index(op), ": MSCCL XML cannot say ", why),
      std::string(hint));
}

Result<Nodes> makeNodes(const Schedule &schedule, const Chunks &chunks, bool fuses) {
  return NodeMaker(schedule, chunks, fuses).run();
}

} // namespace colldsl::msccl
