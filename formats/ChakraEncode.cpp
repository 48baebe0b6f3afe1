#include "formats/Chakra.h"

#include "formats/Chakra.pb.h"
#include "formats/ChakraLayout.h"
#include "formats/GoalReduce.h"
#include "ir/Concat.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace colldsl::chakra {
namespace {

/// The version that ASTRA-sim's and Chakra's own generators write.
constexpr const char *kVersion = "0.0.4";

/// Writes the trace of one rank.
class TraceEncoder {
public:
  TraceEncoder(const Dag &goal, uint32_t rank) : goal_(goal), rank_(rank) {}
  Result<std::string> run();

private:
  Status write(uint32_t i);
  Status writeMessage(const Op &op, uint32_t i, wire::Node &node) const;
  void append(const google::protobuf::MessageLite &message);
  template <typename... Parts>
  Status refuse(const Op &op, uint32_t i, const Parts &...parts) const {
    return Diagnostic::error(op.loc,
                             concat("rank ", rank_, ", op l", i, ": Chakra cannot say ", parts...));
  }

  const Dag &goal_;
  uint32_t rank_;
  std::string out_;
};

void TraceEncoder::append(const google::protobuf::MessageLite &message) {
  google::protobuf::io::StringOutputStream stream(&out_);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
  message.SerializeToCodedStream(&coded);
}

wire::Attribute &attribute(wire::Node &node, const char *name) {
  wire::Attribute &added = *node.add_attr();
  added.set_name(name);
  return added;
}

void setTime(wire::Node &node, uint64_t ns) {
  node.set_type(static_cast<int32_t>(NodeType::Comp));
  node.set_duration_micros(ns / kNanosecondsPerMicrosecond +
                           (ns % kNanosecondsPerMicrosecond != 0 ? 1 : 0));
  attribute(node, kNanosecondsAttribute).set_uint64_val(ns);
}

Status TraceEncoder::writeMessage(const Op &op, uint32_t i, wire::Node &node) const {
  bool sends = sendsMessage(op.kind);
  if (op.amount > INT64_MAX)
    return refuse(op, i, "a message of ", op.amount, " bytes");
  if (tagOf(op.message) > INT32_MAX)
    return refuse(op, i, "the tag ", tagOf(op.message));
  auto own = static_cast<int32_t>(rank_), peer = static_cast<int32_t>(index(op.peer));
  node.set_type(static_cast<int32_t>(sends ? NodeType::CommSend : NodeType::CommRecv));
  attribute(node, "is_cpu_op").set_bool_val(false);
  attribute(node, kSizeAttribute).set_int64_val(static_cast<int64_t>(op.amount));
  attribute(node, kSourceAttribute).set_int32_val(sends ? own : peer);
  attribute(node, kTargetAttribute).set_int32_val(sends ? peer : own);
  attribute(node, kTagAttribute).set_int32_val(static_cast<int32_t>(tagOf(op.message)));
  return {};
}

Status TraceEncoder::write(uint32_t i) {
  const Op &op = goal_.ops[i];
  if (op.cpu != 0 || op.nic != 0)
    return refuse(op, i, op.cpu != 0 ? "cpu " : "nic ", unsigned{op.cpu != 0 ? op.cpu : op.nic});
  wire::Node node;
  node.set_id(i);
  node.set_name(concat("l", i));
  for (const Dep &dep : goal_.depsOf(op)) {
    if (dep.kind == DepKind::IRequires)
      return refuse(op, i, "that it waits for the start of op l", index(dep.op));
    node.add_data_deps(index(dep.op));
  }
  if (!isMessage(op.kind) && op.amount > INT64_MAX)
    return refuse(op, i, "a time of ", op.amount, " ns");
  if (!isMessage(op.kind))
    setTime(node, op.amount);
  else if (Status s = writeMessage(op, i, node); !s)
    return s;
  append(node);
  return {};
}

Result<std::string> TraceEncoder::run() {
  wire::GlobalMetadata metadata;
  metadata.set_version(kVersion);
  append(metadata);
  for (uint32_t i = 0; i < goal_.size(); ++i)
    if (Status s = write(i); !s)
      return s;
  if (goal_.size() == 0) {
    wire::Node node;
    node.set_name("l0");
    setTime(node, 0);
    append(node);
  }
  return std::move(out_);
}

} // namespace

Result<std::vector<std::string>> encode(const Schedule &schedule, GoalOptions options) {
  options.target = "Chakra";
  Result<Schedule> goal = toGoal(schedule, options);
  if (!goal)
    return goal.status();
  std::vector<std::string> traces;
  for (uint32_t r = 0; r < goal->numRanks(); ++r) {
    Result<std::string> trace = TraceEncoder(goal->ranks[r], r).run();
    if (!trace)
      return trace.status();
    traces.push_back(trace.take());
  }
  return traces;
}

} // namespace colldsl::chakra
