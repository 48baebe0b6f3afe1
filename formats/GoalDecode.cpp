#include "formats/GoalBinary.h"

#include "formats/GoalLayout.h"
#include "formats/NodeGraph.h"
#include "ir/Concat.h"

#include <functional>
#include <numeric>

namespace colldsl {
namespace {

/// The file's part for one rank.
struct RankPart {
  std::span<const std::byte> bytes;
  uint32_t nodes = 0;
  uint32_t roots = 0;
  uint64_t successors = 0;

  const std::byte *rootAt(uint64_t i) const {
    return bytes.data() + kGoalRankBytes + i * kGoalIndexBytes;
  }
  const std::byte *nodeAt(uint64_t i) const { return rootAt(roots) + i * kGoalNodeBytes; }
  const std::byte *successorAt(uint64_t i) const { return nodeAt(nodes) + i * kGoalIndexBytes; }
  GoalNode node(uint64_t i) const {
    GoalNode node;
    const std::byte *at = nodeAt(i);
    forEachField(node, [&](auto &field) {
      field = readNumber<std::remove_reference_t<decltype(field)>>(at);
      at += sizeof field;
    });
    return node;
  }
};

/// Reads one rank.
class RankDecoder {
public:
  RankDecoder(std::span<const std::byte> bytes, uint32_t rank, uint32_t ranks, bool allowWildcards)
      : rank_(rank), ranks_(ranks), allowWildcards_(allowWildcards) {
    part_.bytes = bytes;
  }

  Status readCounts();
  uint32_t nodes() const { return part_.nodes; }
  Result<Dag> run();

private:
  Status readNode(uint32_t i);
  Status checkMessage(uint32_t i, const GoalNode &node) const;
  Status readList(uint32_t i, uint32_t begin, uint32_t count, DepKind kind);
  Status checkIndegree(uint32_t i);
  Status checkRoots();
  NodeGraph graph();

  template <typename... Parts> Status fail(const Parts &...parts) const {
    return Status::error(concat("rank ", rank_, ": ", parts...));
  }
  template <typename... Parts> Status failAt(uint32_t i, const Parts &...parts) const {
    return fail("node ", i, ": ", parts...);
  }

  uint32_t rank_;
  uint32_t ranks_;
  bool allowWildcards_;
  RankPart part_;
  uint64_t listed_ = 0;             ///< successors in the lists read so far
  std::vector<Op> ops_;             ///< in the order of the file
  std::vector<uint32_t> releasers_; ///< per op: edges that lead there
};

Status RankDecoder::readCounts() {
  uint64_t size = part_.bytes.size();
  if (size < kGoalRankBytes)
    return fail("has ", size, " bytes, its counts alone take ", kGoalRankBytes);
  part_.nodes = readNumber<uint32_t>(part_.bytes.data());
  part_.roots = readNumber<uint32_t>(part_.bytes.data() + sizeof(uint32_t));
  uint64_t needed = kGoalRankBytes + part_.roots * kGoalIndexBytes + part_.nodes * kGoalNodeBytes;
  if (size < needed)
    return fail("has ", size, " bytes, ", part_.nodes, " nodes and ", part_.roots, " roots take ",
                needed);
  if ((size - needed) % kGoalIndexBytes != 0)
    return fail("has ", size - needed, " bytes of successors, each takes ", kGoalIndexBytes);
  part_.successors = (size - needed) / kGoalIndexBytes;
  if (part_.successors > UINT32_MAX)
    return fail("has ", part_.successors, " successors, at most ", UINT32_MAX, " are possible");
  return {};
}

Status RankDecoder::checkMessage(uint32_t i, const GoalNode &node) const {
  std::string_view word = node.type == static_cast<uint8_t>(GoalNodeType::Send) ? "send" : "recv";
  bool isRecv = node.type == static_cast<uint8_t>(GoalNodeType::Recv);
  bool isAnySender = allowWildcards_ && isRecv && node.peer == UINT32_MAX;
  if (node.peer == UINT32_MAX && !isAnySender)
    return failAt(i, word, " with any rank: matching is static");
  if (node.tag == UINT32_MAX && !allowWildcards_)
    return failAt(i, word, " of any tag: matching is static");
  if (node.peer >= ranks_ && !isAnySender)
    return failAt(i, word, " with rank ", node.peer, ", there are ", ranks_);
  return {};
}

Status RankDecoder::readNode(uint32_t i) {
  GoalNode node = part_.node(i);
  Op op;
  op.amount = node.size;
  op.cpu = node.cpu;
  if (node.type == static_cast<uint8_t>(GoalNodeType::Calc)) {
    ops_.push_back(op);
    return {};
  }
  if (node.type != static_cast<uint8_t>(GoalNodeType::Send) &&
      node.type != static_cast<uint8_t>(GoalNodeType::Recv))
    return failAt(i, "is of type ", unsigned{node.type}, ", types are 1 to 3");
  if (Status s = checkMessage(i, node); !s)
    return s;
  bool sends = node.type == static_cast<uint8_t>(GoalNodeType::Send);
  op.kind = sends ? OpKind::Send : OpKind::Recv;
  op.peer = Rank{node.peer};
  op.message = makeMessageId(node.tag, 0);
  op.nic = node.nic;
  ops_.push_back(op);
  return {};
}

// Counts the edges that lead to each node; graph() walks the same lists again.
Status RankDecoder::readList(uint32_t i, uint32_t begin, uint32_t count, DepKind kind) {
  std::string_view word = kind == DepKind::Requires ? "require" : "irequire";
  if (uint64_t{begin} + count > part_.successors)
    return failAt(i, "names successors ", begin, " to ", uint64_t{begin} + count, " that ", word,
                  " it, there are ", part_.successors);
  listed_ += count;
  if (listed_ > part_.successors)
    return failAt(i, "lists of successors overlap: the nodes up to here name ", listed_,
                  ", there are ", part_.successors);
  for (uint64_t k = begin; k < uint64_t{begin} + count; ++k) {
    auto op = readNumber<uint32_t>(part_.successorAt(k));
    if (op >= part_.nodes)
      return failAt(i, "is followed by node ", op, ", there are ", part_.nodes);
    ++releasers_[op];
  }
  return {};
}

Status RankDecoder::checkIndegree(uint32_t i) {
  uint32_t stated = part_.node(i).indegree;
  if (stated != releasers_[i])
    return failAt(i, "waits for ", stated, " edges, ", releasers_[i], " lead there");
  return {};
}

Status RankDecoder::checkRoots() {
  std::vector<bool> isRoot(part_.nodes);
  for (uint32_t k = 0; k < part_.roots; ++k) {
    auto root = readNumber<uint32_t>(part_.rootAt(k));
    if (root >= part_.nodes)
      return fail("root ", k, " is node ", root, ", there are ", part_.nodes);
    if (releasers_[root] != 0)
      return failAt(root, "is a root, but ", releasers_[root], " edges lead there");
    if (isRoot[root])
      return failAt(root, "is a root twice");
    isRoot[root] = true;
  }
  for (uint32_t i = 0; i < part_.nodes; ++i)
    if (releasers_[i] == 0 && !isRoot[i])
      return failAt(i, "no edge leads there, and it is no root");
  return {};
}

/// The dependencies of each node: the file has the edges the other way around.
NodeGraph RankDecoder::graph() {
  NodeGraph graph;
  graph.depBegin.assign(size_t{part_.nodes} + 1, 0);
  std::partial_sum(releasers_.begin(), releasers_.end(), graph.depBegin.begin() + 1, std::plus<>());
  graph.deps.resize(graph.depBegin.back());
  std::vector<uint64_t> cursor(graph.depBegin.begin(), graph.depBegin.end() - 1);
  auto addEdges = [&](uint32_t i, uint32_t begin, uint32_t count, DepKind kind) {
    for (uint64_t k = begin; k < uint64_t{begin} + count; ++k)
      graph.deps[cursor[readNumber<uint32_t>(part_.successorAt(k))]++] = {OpId{i}, kind};
  };
  for (uint32_t i = 0; i < part_.nodes; ++i) {
    GoalNode node = part_.node(i);
    addEdges(i, node.requireBegin, node.requireCount, DepKind::Requires);
    addEdges(i, node.irequireBegin, node.irequireCount, DepKind::IRequires);
  }
  graph.ops = std::move(ops_);
  return graph;
}

Result<Dag> RankDecoder::run() {
  ops_.reserve(part_.nodes);
  releasers_.resize(part_.nodes);
  for (uint32_t i = 0; i < part_.nodes; ++i) {
    GoalNode node = part_.node(i);
    Status s = readNode(i);
    if (s)
      s = readList(i, node.requireBegin, node.requireCount, DepKind::Requires);
    if (s)
      s = readList(i, node.irequireBegin, node.irequireCount, DepKind::IRequires);
    if (!s)
      return s;
  }
  for (uint32_t i = 0; i < part_.nodes; ++i)
    if (Status s = checkIndegree(i); !s)
      return s;
  if (Status s = checkRoots(); !s)
    return s;
  Result<Dag> dag = toDag(graph(), [](uint32_t i) { return concat("node ", i); });
  return dag ? std::move(dag) : fail(dag.message());
}

/// Reads the header and the table of ranks.
class GoalDecoder {
public:
  GoalDecoder(std::span<const std::byte> bytes, const TextLimits &limits)
      : bytes_(bytes), limits_(limits) {}
  Status run(Schedule &schedule);

private:
  Status checkHeader();
  Result<std::span<const std::byte>> part(uint32_t r);
  template <typename... Parts> static Status fail(const Parts &...parts) {
    return Status::error(concat(parts...));
  }

  std::span<const std::byte> bytes_;
  const TextLimits &limits_;
  uint32_t ranks_ = 0;
  uint64_t end_ = 0; ///< of the ranks read so far, as the table counts
};

Status GoalDecoder::checkHeader() {
  if (bytes_.size() > limits_.maxBytes)
    return fail("the file has ", bytes_.size(), " bytes, the limit is ", limits_.maxBytes,
                " (--max-source-bytes)");
  if (bytes_.size() < kGoalHeaderBytes)
    return fail("the file has ", bytes_.size(), " bytes, its header takes ", kGoalHeaderBytes);
  auto magic = readNumber<uint64_t>(bytes_.data());
  if (magic == kGoalUsedMagic)
    return fail("a simulator has worked in this file and left it unusable (it begins with ",
                kGoalUsedMagic, ", not ", kGoalMagic, ")");
  if (magic != kGoalMagic)
    return fail("the file begins with ", magic, ", GOAL in binary with ", kGoalMagic);
  ranks_ = readNumber<uint32_t>(bytes_.data() + kGoalMagicBytes);
  if (ranks_ > limits_.maxRanks)
    return fail("the file has ", ranks_, " ranks, the limit is ", limits_.maxRanks);
  uint64_t needed = kGoalHeaderBytes + kGoalTableBytes * ranks_;
  if (bytes_.size() < needed)
    return fail("the file has ", bytes_.size(), " bytes, the table of ", ranks_,
                " ranks ends at byte ", needed);
  end_ = needed - kGoalMagicBytes;
  return {};
}

Result<std::span<const std::byte>> GoalDecoder::part(uint32_t r) {
  const std::byte *entry = bytes_.data() + kGoalHeaderBytes + kGoalTableBytes * r;
  auto begin = readNumber<uint64_t>(entry);
  auto end = readNumber<uint64_t>(entry + sizeof(uint64_t));
  uint64_t size = bytes_.size() - kGoalMagicBytes;
  if (begin < end_)
    return fail("rank ", r, ": begins at byte ", begin, ", what stands before it ends at ", end_);
  if (end < begin || end > size)
    return fail("rank ", r, ": lies from byte ", begin, " to ", end, ", the file ends at ", size);
  end_ = end;
  return bytes_.subspan(kGoalMagicBytes + begin, end - begin);
}

Status GoalDecoder::run(Schedule &schedule) {
  if (Status s = checkHeader(); !s)
    return s;
  uint64_t ops = 0;
  for (uint32_t r = 0; r < ranks_; ++r) {
    Result<std::span<const std::byte>> bytes = part(r);
    if (!bytes)
      return bytes.status();
    RankDecoder decoder(*bytes, r, ranks_, limits_.allowWildcards);
    if (Status s = decoder.readCounts(); !s)
      return s;
    ops += decoder.nodes();
    if (ops > limits_.maxOps)
      return fail("there are more ops than the limit of ", limits_.maxOps, " (--max-total-ops)");
    Result<Dag> dag = decoder.run();
    if (!dag)
      return dag.status();
    schedule.ranks.push_back(dag.take());
  }
  return {};
}

} // namespace

Result<Schedule> decodeGoal(std::span<const std::byte> bytes, std::string_view fileName,
                            TextLimits limits) {
  Schedule schedule;
  schedule.name = std::string(fileName);
  schedule.isPlainGoal = true;
  if (Status s = GoalDecoder(bytes, limits).run(schedule); !s)
    return s;
  return schedule;
}

} // namespace colldsl
