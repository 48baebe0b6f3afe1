#include "ir/Concat.h"
#include "ir/TextForm.h"
#include "ir/TextSizes.h"

#include <algorithm>

namespace colldsl {
namespace {

class GoalPrinter {
public:
  GoalPrinter(const Schedule &schedule, GoalOptions options)
      : schedule_(schedule), options_(options) {}
  Result<std::string> run();

private:
  Status printOp(const Dag &dag, uint32_t i);
  void printMessage(const Op &op, uint64_t bytes);
  void printCalc(const Op &op, uint64_t time);
  void printDeps(const Dag &dag, uint32_t i);
  Status refuse(const Op &op, uint32_t i, std::string_view why, std::string_view hint) const;

  template <typename... Parts> void print(const Parts &...parts) { (append(parts), ...); }
  void append(std::string_view text) { out_ += text; }
  void append(uint64_t number) { out_ += std::to_string(number); }

  const Schedule &schedule_;
  GoalOptions options_;
  uint32_t rank_ = 0;
  std::string out_;
};

Status GoalPrinter::refuse(const Op &op, uint32_t i, std::string_view why,
                           std::string_view hint) const {
  return Diagnostic::error(
      op.loc, concat("rank ", rank_, ", op l", i, ": GOAL cannot say a ", spelling(op.kind), why),
      std::string(hint));
}

void GoalPrinter::printMessage(const Op &op, uint64_t bytes) {
  bool sends = sendsMessage(op.kind);
  print(sends ? "send " : "recv ", bytes, sends ? "b to " : "b from ", index(op.peer), " tag ",
        tagOf(op.message));
  if (op.cpu != 0)
    print(" cpu ", op.cpu);
  if (op.nic != 0)
    print(" nic ", op.nic);
}

void GoalPrinter::printCalc(const Op &op, uint64_t time) {
  print("calc ", time);
  if (op.cpu != 0)
    print(" cpu ", op.cpu);
}

Status GoalPrinter::printOp(const Dag &dag, uint32_t i) {
  const Op &op = dag.ops[i];
  bool isLocal = op.kind == OpKind::Copy || op.kind == OpKind::Combine;
  bool isTransfer = op.kind == OpKind::Send || op.kind == OpKind::Recv;
  if (isLocal && !options_.localOpsAsCalc)
    return refuse(op, i, "", "ask for local ops as calc");
  auto bytes = statedBytes(dag, op, schedule_.sizeClass.elements);
  if ((isLocal || isTransfer) && !bytes)
    return refuse(op, i, " whose size is known at call time only", "");
  print("l", i, ": ");
  if (op.kind == OpKind::Calc)
    printCalc(op, op.amount);
  else if (isLocal || (isTransfer && *bytes == 0))
    printCalc(op, *bytes);
  else
    printMessage(op, isTransfer ? *bytes : 1);
  print("\n");
  printDeps(dag, i);
  return {};
}

void GoalPrinter::printDeps(const Dag &dag, uint32_t i) {
  for (const Dep &dep : dag.depsOf(dag.ops[i]))
    print("l", i, dep.kind == DepKind::Requires ? " requires l" : " irequires l", index(dep.op),
          "\n");
}

Result<std::string> GoalPrinter::run() {
  print("num_ranks ", schedule_.numRanks(), "\n");
  for (rank_ = 0; rank_ < schedule_.numRanks(); ++rank_) {
    const Dag &dag = schedule_.ranks[rank_];
    print("\nrank ", rank_, " {\n");
    for (uint32_t i = 0; i < dag.size(); ++i)
      if (Status s = printOp(dag, i); !s)
        return s;
    print("}\n");
  }
  return std::move(out_);
}

// If not, two messages share pair and tag, and other tools match those in the order in
// which they happen to run.
bool hasPlainTags(const Schedule &schedule) {
  return std::ranges::all_of(schedule.ranks, [](const Dag &dag) {
    return std::ranges::all_of(
        dag.ops, [](const Op &op) { return !isMessage(op.kind) || countOf(op.message) == 0; });
  });
}

} // namespace

Result<std::string> printGoal(const Schedule &schedule, GoalOptions options) {
  if (hasPlainTags(schedule))
    return GoalPrinter(schedule, options).run();
  Schedule renumbered = schedule;
  renumberMessages(renumbered);
  return GoalPrinter(renumbered, options).run();
}

} // namespace colldsl
