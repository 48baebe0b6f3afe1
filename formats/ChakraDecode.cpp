#include "formats/Chakra.h"

#include "formats/Chakra.pb.h"
#include "formats/ChakraLayout.h"
#include "formats/NodeGraph.h"
#include "ir/Concat.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace colldsl::chakra {
namespace {

/// The messages of a file, each behind its length.
class MessageReader {
public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  bool isAtEnd() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }
  /// False if the file ends before the message does, or it is none.
  bool take(google::protobuf::MessageLite &message);

private:
  std::string_view rest_;
};

bool MessageReader::take(google::protobuf::MessageLite &message) {
  constexpr size_t kLongestVarint = 10;
  google::protobuf::io::CodedInputStream coded(
      reinterpret_cast<const uint8_t *>(rest_.data()),
      static_cast<int>(std::min(rest_.size(), kLongestVarint)));
  uint64_t length = 0;
  if (!coded.ReadVarint64(&length))
    return false;
  rest_.remove_prefix(static_cast<size_t>(coded.CurrentPosition()));
  if (length > rest_.size() || length > INT32_MAX)
    return false;
  bool isRead = message.ParseFromArray(rest_.data(), static_cast<int>(length));
  rest_.remove_prefix(length);
  return isRead;
}

/// The number that an attribute has, of whatever type; nothing: it has none.
std::optional<int64_t> numberOf(const wire::Attribute &a) {
  switch (a.value_case()) {
  case wire::Attribute::kInt32Val:
    return a.int32_val();
  case wire::Attribute::kInt64Val:
    return a.int64_val();
  case wire::Attribute::kUint32Val:
    return a.uint32_val();
  case wire::Attribute::kUint64Val:
    return static_cast<int64_t>(a.uint64_val());
  case wire::Attribute::kSint32Val:
    return a.sint32_val();
  case wire::Attribute::kSint64Val:
    return a.sint64_val();
  case wire::Attribute::kFixed32Val:
    return a.fixed32_val();
  case wire::Attribute::kFixed64Val:
    return static_cast<int64_t>(a.fixed64_val());
  case wire::Attribute::kSfixed32Val:
    return a.sfixed32_val();
  case wire::Attribute::kSfixed64Val:
    return a.sfixed64_val();
  case wire::Attribute::kBoolVal:
  case wire::Attribute::VALUE_NOT_SET:
    break;
  }
  return std::nullopt;
}

std::optional<int64_t> numberOf(const wire::Node &node, const char *name) {
  for (const wire::Attribute &a : node.attr())
    if (a.name() == name)
      return numberOf(a);
  return std::nullopt;
}

/// Reads the trace of one rank.
class TraceDecoder {
public:
  TraceDecoder(std::string_view bytes, uint32_t rank, uint32_t ranks)
      : bytes_(bytes), rank_(rank), ranks_(ranks) {}

  /// At most so many nodes.
  Result<Dag> run(uint64_t maxNodes);

private:
  Status readNodes(uint64_t maxNodes);
  Status read(const wire::Node &node);
  Status refuseTwice(const wire::Node &node) const;
  Status readMessage(const wire::Node &node, bool sends, Op &op) const;
  Status readTime(const wire::Node &node, Op &op) const;
  Status readDependencies();

  template <typename... Parts> Status fail(const Parts &...parts) const {
    return Status::error(concat("rank ", rank_, ": ", parts...));
  }
  template <typename... Parts> Status failAt(uint64_t id, const Parts &...parts) const {
    return fail("node ", id, ": ", parts...);
  }

  std::string_view bytes_;
  uint32_t rank_;
  uint32_t ranks_;
  NodeGraph graph_;
  std::vector<uint64_t> ids_;      ///< of nodes
  std::vector<uint64_t> awaited_;  ///< ids of the nodes that each waits for
  std::vector<size_t> awaitedEnd_; ///< of each
  std::unordered_map<uint64_t, uint32_t> places_;
};

Status TraceDecoder::readMessage(const wire::Node &node, bool sends, Op &op) const {
  const char *peerName = sends ? kTargetAttribute : kSourceAttribute;
  const char *ownName = sends ? kSourceAttribute : kTargetAttribute;
  auto peer = numberOf(node, peerName), own = numberOf(node, ownName);
  auto size = numberOf(node, kSizeAttribute);
  int64_t tag = numberOf(node, kTagAttribute).value_or(0);
  if (!peer || !size)
    return failAt(node.id(), sends ? "a send" : "a receive", " without the attribute '",
                  peer ? kSizeAttribute : peerName, "'");
  if (*peer < 0 || *peer >= ranks_)
    return failAt(node.id(), sends ? "a send to" : "a receive from", " rank ", *peer,
                  ", there are ", ranks_);
  if (own && *own != rank_)
    return failAt(node.id(), "its '", ownName, "' is rank ", *own);
  if (*size < 0)
    return failAt(node.id(), "its '", kSizeAttribute, "' is not from 0 to ", INT64_MAX);
  if (tag < 0 || tag > UINT32_MAX)
    return failAt(node.id(), "a message of tag ", tag);
  op.kind = sends ? OpKind::Send : OpKind::Recv;
  op.peer = Rank{static_cast<uint32_t>(*peer)};
  op.message = makeMessageId(static_cast<uint32_t>(tag), 0);
  op.amount = static_cast<uint64_t>(*size);
  return {};
}

Status TraceDecoder::readTime(const wire::Node &node, Op &op) const {
  constexpr uint64_t kLongest = INT64_MAX;
  if (std::optional<int64_t> ns = numberOf(node, kNanosecondsAttribute)) {
    if (*ns < 0)
      return failAt(node.id(), "its '", kNanosecondsAttribute, "' is not from 0 to ", kLongest);
    op.amount = static_cast<uint64_t>(*ns);
    return {};
  }
  if (node.duration_micros() > kLongest / kNanosecondsPerMicrosecond)
    return failAt(node.id(), "it takes ", node.duration_micros(), " microseconds");
  op.amount = node.duration_micros() * kNanosecondsPerMicrosecond;
  return {};
}

// Readers of traces differ in which of two they take.
Status TraceDecoder::refuseTwice(const wire::Node &node) const {
  for (const char *name :
       {kSizeAttribute, kSourceAttribute, kTargetAttribute, kTagAttribute, kNanosecondsAttribute})
    if (std::count_if(node.attr().begin(), node.attr().end(),
                      [&](const wire::Attribute &a) { return a.name() == name; }) > 1)
      return failAt(node.id(), "the attribute '", name, "' is given twice");
  return {};
}

Status TraceDecoder::read(const wire::Node &node) {
  if (Status s = refuseTwice(node); !s)
    return s;
  Op op;
  switch (static_cast<NodeType>(node.type())) {
  case NodeType::CommSend:
  case NodeType::CommRecv:
    if (Status s = readMessage(node, static_cast<NodeType>(node.type()) == NodeType::CommSend, op);
        !s)
      return s;
    break;
  case NodeType::Comp:
  case NodeType::MemLoad:
  case NodeType::MemStore:
    if (Status s = readTime(node, op); !s)
      return s;
    break;
  case NodeType::Metadata:
    break; // takes no time
  case NodeType::CommColl:
    return failAt(node.id(), "a collective: its messages are not in the trace");
  default:
    return failAt(node.id(), "is of type ", node.type(),
                  ": read are messages (5, 6), computations (4), accesses to memory (2, 3) and "
                  "metadata (1)");
  }
  auto place = static_cast<uint32_t>(graph_.ops.size());
  if (auto [known, isNew] = places_.emplace(node.id(), place); !isNew)
    return failAt(node.id(), "nodes ", known->second, " and ", place,
                  " of the file, counted from 0, have this number");
  graph_.ops.push_back(op);
  ids_.push_back(node.id());
  awaited_.insert(awaited_.end(), node.data_deps().begin(), node.data_deps().end());
  awaited_.insert(awaited_.end(), node.ctrl_deps().begin(), node.ctrl_deps().end());
  awaitedEnd_.push_back(awaited_.size());
  return {};
}

Status TraceDecoder::readNodes(uint64_t maxNodes) {
  MessageReader reader(bytes_);
  wire::GlobalMetadata metadata;
  if (!reader.take(metadata))
    return fail("the file does not begin with metadata of Chakra");
  wire::Node node;
  while (!reader.isAtEnd()) {
    size_t begin = bytes_.size() - reader.left();
    if (graph_.ops.size() >= maxNodes)
      return fail("there are more nodes than the limit of ", maxNodes,
                  " allows (--max-total-ops, of all ranks)");
    node.Clear();
    if (!reader.take(node))
      return fail("no node of Chakra is at byte ", begin, ", where node ", graph_.ops.size(),
                  " of the file begins, counted from 0");
    if (Status s = read(node); !s)
      return s;
  }
  return {};
}

Status TraceDecoder::readDependencies() {
  graph_.depBegin.push_back(0);
  std::vector<OpId> ops;
  for (uint32_t i = 0; i < graph_.ops.size(); ++i) {
    ops.clear();
    for (size_t k = i == 0 ? 0 : awaitedEnd_[i - 1]; k < awaitedEnd_[i]; ++k) {
      auto known = places_.find(awaited_[k]);
      if (known == places_.end())
        return failAt(ids_[i], "waits for node ", awaited_[k], ", which is not in the trace");
      ops.push_back(OpId{known->second});
    }
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    for (OpId op : ops)
      graph_.deps.push_back({op, DepKind::Requires});
    graph_.depBegin.push_back(graph_.deps.size());
  }
  return {};
}

Result<Dag> TraceDecoder::run(uint64_t maxNodes) {
  if (Status s = readNodes(maxNodes); !s)
    return s;
  if (Status s = readDependencies(); !s)
    return s;
  Result<Dag> dag =
      toDag(std::move(graph_), [this](uint32_t i) { return concat("node ", ids_[i]); });
  return dag ? std::move(dag) : fail(dag.message());
}

} // namespace

bool isTrace(std::string_view content) {
  constexpr char kVersionField = '\x0a';
  if (content.size() < 2 || content[1] != kVersionField)
    return false;
  MessageReader reader(content);
  wire::GlobalMetadata metadata;
  wire::Node node;
  return reader.take(metadata) && !metadata.version().empty() &&
         metadata.version().find_first_not_of("0123456789.") == std::string::npos &&
         (reader.isAtEnd() || reader.take(node));
}

Result<Schedule> decode(std::span<const std::string_view> ranks, std::string_view name,
                        TextLimits limits) {
  Schedule schedule;
  schedule.name = std::string(name);
  schedule.isPlainGoal = true;
  if (ranks.size() > limits.maxRanks)
    return Status::error(
        concat("there are traces of ", ranks.size(), " ranks, the limit is ", limits.maxRanks));
  uint64_t ops = 0, bytes = 0;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    bytes += ranks[r].size();
    if (bytes > limits.maxBytes)
      return Status::error(concat("the traces up to rank ", r, " have ", bytes,
                                  " bytes, the limit is ", limits.maxBytes,
                                  " (--max-source-bytes)"));
    Result<Dag> dag =
        TraceDecoder(ranks[r], r, static_cast<uint32_t>(ranks.size())).run(limits.maxOps - ops);
    if (!dag)
      return dag.status();
    ops += dag->size();
    schedule.ranks.push_back(dag.take());
  }
  return schedule;
}

} // namespace colldsl::chakra
