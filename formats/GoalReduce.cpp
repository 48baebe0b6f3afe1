#include "formats/GoalReduce.h"

#include "ir/Concat.h"
#include "ir/TextSizes.h"

#include <algorithm>

namespace colldsl {
namespace {

/// Reduces the ops of one rank.
class GoalReducer {
public:
  GoalReducer(const Dag &dag, uint32_t rank, uint64_t n, GoalOptions options)
      : dag_(dag), rank_(rank), n_(n), options_(options) {}

  Status run(Dag &goal);

private:
  Result<Op> reduce(uint32_t i) const;
  std::span<const Dep> sortedDeps(const Op &op);
  Status refuse(const Op &op, uint32_t i, std::string_view why, std::string_view hint) const;

  const Dag &dag_;
  uint32_t rank_;
  uint64_t n_;
  GoalOptions options_;
  std::vector<Dep> deps_; ///< of the op at hand
};

Status GoalReducer::refuse(const Op &op, uint32_t i, std::string_view why,
                           std::string_view hint) const {
  return Diagnostic::error(op.loc,
                           concat("rank ", rank_, ", op l", i, ": ", options_.target,
                                  " cannot say a ", spelling(op.kind), why),
                           std::string(hint));
}

Op calcOf(const Op &op, uint64_t ns) {
  Op calc;
  calc.amount = ns;
  calc.loc = op.loc;
  calc.cpu = op.cpu;
  return calc;
}

Op messageOf(const Op &op, uint64_t bytes) {
  Op message;
  message.kind = sendsMessage(op.kind) ? OpKind::Send : OpKind::Recv;
  message.peer = op.peer;
  message.message = op.message;
  message.amount = bytes;
  message.loc = op.loc;
  message.cpu = op.cpu;
  message.nic = op.nic;
  return message;
}

Result<Op> GoalReducer::reduce(uint32_t i) const {
  const Op &op = dag_.ops[i];
  bool isLocal = op.kind == OpKind::Copy || op.kind == OpKind::Combine;
  bool isTransfer = op.kind == OpKind::Send || op.kind == OpKind::Recv;
  if (isLocal && !options_.localOpsAsCalc)
    return refuse(op, i, "", "--local-as-calc writes copies and combines as calc");
  auto bytes = statedBytes(dag_, op, n_);
  if ((isLocal || isTransfer) && !bytes)
    return refuse(op, i, " whose size is known at call time only", "");
  if (op.kind == OpKind::Calc)
    return calcOf(op, op.amount);
  if (isLocal || (isTransfer && *bytes == 0))
    return calcOf(op, *bytes);
  return messageOf(op, isTransfer ? *bytes : 1);
}

std::span<const Dep> GoalReducer::sortedDeps(const Op &op) {
  auto deps = dag_.depsOf(op);
  deps_.assign(deps.begin(), deps.end());
  std::sort(deps_.begin(), deps_.end(), [](const Dep &a, const Dep &b) {
    return std::pair(a.op, a.kind) < std::pair(b.op, b.kind);
  });
  return deps_;
}

Status GoalReducer::run(Dag &goal) {
  for (uint32_t i = 0; i < dag_.size(); ++i) {
    Result<Op> op = reduce(i);
    if (!op)
      return op.status();
    goal.add(*op, {}, {}, sortedDeps(dag_.ops[i]));
  }
  return {};
}

// True if no two messages share pair and tag. Other tools match such messages in the order in which
// they happen to run.
bool hasPlainTags(const Schedule &schedule) {
  return std::ranges::all_of(schedule.ranks, [](const Dag &dag) {
    return std::ranges::all_of(
        dag.ops, [](const Op &op) { return !isMessage(op.kind) || countOf(op.message) == 0; });
  });
}

} // namespace

Result<Schedule> toGoal(const Schedule &schedule, GoalOptions options) {
  Schedule goal;
  goal.name = schedule.name;
  goal.files = schedule.files;
  goal.ranks.resize(schedule.numRanks());
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    GoalReducer reducer(schedule.ranks[r], r, schedule.sizeClass.elements, options);
    if (Status s = reducer.run(goal.ranks[r]); !s)
      return s;
  }
  if (!hasPlainTags(goal))
    renumberMessages(goal);
  return goal;
}

} // namespace colldsl
