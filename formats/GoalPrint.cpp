#include "formats/GoalReduce.h"

namespace colldsl {
namespace {

class GoalPrinter {
public:
  explicit GoalPrinter(const Schedule &goal) : goal_(goal) {}
  std::string run();

private:
  void printOp(const Op &op, uint32_t i);
  void printMessage(const Op &op);
  void printDeps(const Dag &dag, uint32_t i);

  template <typename... Parts> void print(const Parts &...parts) { (append(parts), ...); }
  void append(std::string_view text) { out_ += text; }
  void append(uint64_t number) { out_ += std::to_string(number); }

  const Schedule &goal_;
  std::string out_;
};

void GoalPrinter::printMessage(const Op &op) {
  bool sends = sendsMessage(op.kind);
  print(sends ? "send " : "recv ", op.amount, sends ? "b to " : "b from ", index(op.peer), " tag ",
        tagOf(op.message));
}

void GoalPrinter::printOp(const Op &op, uint32_t i) {
  print("l", i, ": ");
  if (isMessage(op.kind))
    printMessage(op);
  else
    print("calc ", op.amount);
  if (op.cpu != 0)
    print(" cpu ", op.cpu);
  if (op.nic != 0)
    print(" nic ", op.nic);
  print("\n");
}

void GoalPrinter::printDeps(const Dag &dag, uint32_t i) {
  for (const Dep &dep : dag.depsOf(dag.ops[i]))
    print("l", i, dep.kind == DepKind::Requires ? " requires l" : " irequires l", index(dep.op),
          "\n");
}

std::string GoalPrinter::run() {
  print("num_ranks ", goal_.numRanks(), "\n");
  for (uint32_t r = 0; r < goal_.numRanks(); ++r) {
    const Dag &dag = goal_.ranks[r];
    print("\nrank ", r, " {\n");
    for (uint32_t i = 0; i < dag.size(); ++i) {
      printOp(dag.ops[i], i);
      printDeps(dag, i);
    }
    print("}\n");
  }
  return std::move(out_);
}

} // namespace

Result<std::string> printGoal(const Schedule &schedule, GoalOptions options) {
  Result<Schedule> goal = toGoal(schedule, options);
  if (!goal)
    return goal.status();
  return GoalPrinter(*goal).run();
}

} // namespace colldsl
