#include "formats/GoalBinary.h"

#include "formats/GoalLayout.h"
#include "formats/GoalReduce.h"
#include "ir/Concat.h"
#include "ir/Index32.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

/// The edges of one rank the other way around: the ops that each op releases.
struct Successors {
  explicit Successors(const Dag &dag) : begin(size_t{2} * dag.size() + 1), ops(dag.deps.size()) {
    for (const Dep &dep : dag.deps)
      ++begin[list(dep) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<uint32_t> cursor(begin.begin(), begin.end() - 1);
    for (uint32_t i = 0; i < dag.size(); ++i)
      for (const Dep &dep : dag.depsOf(dag.ops[i]))
        ops[cursor[list(dep)]++] = i;
  }
  static size_t list(const Dep &dep) {
    return size_t{2} * index(dep.op) + (dep.kind == DepKind::IRequires);
  }
  uint32_t count(size_t list) const { return begin[list + 1] - begin[list]; }

  std::vector<uint32_t> begin; ///< per op two lists: those that require, then irequire
  std::vector<uint32_t> ops;
};

class GoalEncoder {
public:
  explicit GoalEncoder(const Schedule &goal) : goal_(goal) {}
  Result<std::vector<std::byte>> run();

private:
  void writeHeader();
  Status writeRank(uint32_t r);
  void writeNode(const Op &op, uint32_t i, const Successors &successors);

  template <typename T> void write(T number) {
    auto bytes = std::as_bytes(std::span(&number, 1));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  template <typename T> void writeAt(size_t at, T number) {
    std::memcpy(out_.data() + at, &number, sizeof number);
  }

  const Schedule &goal_;
  std::vector<std::byte> out_;
};

void GoalEncoder::writeHeader() {
  uint8_t cpu = 0, nic = 0;
  for (const Dag &dag : goal_.ranks)
    for (const Op &op : dag.ops) {
      cpu = std::max(cpu, op.cpu);
      nic = std::max(nic, op.nic);
    }
  write(kGoalMagic);
  write(goal_.numRanks());
  write(cpu);
  write(nic);
  out_.resize(out_.size() + kGoalTableBytes * goal_.numRanks());
}

GoalNodeType nodeType(OpKind kind) {
  if (!isMessage(kind))
    return GoalNodeType::Calc;
  return sendsMessage(kind) ? GoalNodeType::Send : GoalNodeType::Recv;
}

void GoalEncoder::writeNode(const Op &op, uint32_t i, const Successors &successors) {
  size_t list = size_t{2} * i;
  GoalNode node;
  node.indegree = op.depCount;
  node.type = static_cast<uint8_t>(nodeType(op.kind));
  node.peer = isMessage(op.kind) ? index(op.peer) : 0;
  node.size = op.amount;
  node.tag = isMessage(op.kind) ? tagOf(op.message) : 0;
  node.cpu = op.cpu;
  node.nic = op.nic;
  node.requireCount = successors.count(list);
  node.requireBegin = successors.begin[list];
  node.irequireCount = successors.count(list + 1);
  node.irequireBegin = successors.begin[list + 1];
  forEachField(node, [&](auto field) { write(field); });
}

Status GoalEncoder::writeRank(uint32_t r) {
  const Dag &dag = goal_.ranks[r];
  if (dag.deps.size() > UINT32_MAX)
    return Status::error(concat("rank ", r, ": GOAL's binary form counts dependencies in 32 bits, ",
                                dag.deps.size(), " are too many"));
  size_t entry = kGoalHeaderBytes + kGoalTableBytes * r;
  writeAt<uint64_t>(entry, out_.size() - kGoalMagicBytes);
  std::vector<uint32_t> roots;
  for (uint32_t i = 0; i < dag.size(); ++i)
    if (dag.ops[i].depCount == 0)
      roots.push_back(i);
  write(dag.size());
  write(index32(roots.size()));
  for (uint32_t root : roots)
    write(root);
  Successors successors(dag);
  for (uint32_t i = 0; i < dag.size(); ++i)
    writeNode(dag.ops[i], i, successors);
  for (uint32_t op : successors.ops)
    write(op);
  writeAt<uint64_t>(entry + sizeof(uint64_t), out_.size() - kGoalMagicBytes);
  return {};
}

Result<std::vector<std::byte>> GoalEncoder::run() {
  writeHeader();
  for (uint32_t r = 0; r < goal_.numRanks(); ++r)
    if (Status s = writeRank(r); !s)
      return s;
  return std::move(out_);
}

} // namespace

Result<std::vector<std::byte>> encodeGoal(const Schedule &schedule, GoalOptions options) {
  Result<Schedule> goal = toGoal(schedule, options);
  if (!goal)
    return goal.status();
  return GoalEncoder(*goal).run();
}

} // namespace colldsl
