/// Passes: pure functions that improve a program before it is instantiated, or a schedule
/// afterwards. Each is one row of Passes.def; nothing else knows their names.
#pragma once

#include "instantiate/Instantiate.h"
#include "passes/CostModel.h"
#include "passes/PassOptions.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

enum class PassKind : uint8_t {
  Program, ///< binds tuning parameters of a collective: leaders, trees, segments
  Dag,     ///< changes the DAGs of all ranks
};

/// The inputs of a DAG pass besides the schedule. All of it outlives the call.
struct DagContext {
  const Topology &topology;
  const std::vector<Sizes> &sizes; ///< as in verify(); for blocks known at call time too
  const CostModel &cost;           ///< of the machine that is chosen for
};

/// The result of a DAG pass: the schedule, and a remark for people.
struct DagOutcome {
  Schedule schedule;
  std::string remark; ///< "8 messages in 3 rounds"; may be empty
};

/// The inputs of a program pass: a collective that is about to be instantiated.
struct BindContext {
  const Program &program;
  const InstantiateRequest &request; ///< with its topology; missing arguments are tuning parameters
  const CostModel &cost;             ///< of the machine that is chosen for
};

/// A tuning parameter and its value. Leaders are no parameter: they are bound by rank.
struct ParameterBinding {
  uint32_t param = 0; ///< of the collective
  ArgumentValue value;
  ExprId expr = kNoExpr; ///< or one of the program's own
};

/// Adds a binding to the request. The parameter is no tuning parameter any more.
void bindTo(const ParameterBinding &binding, InstantiateRequest &request);

struct BindOutcome {
  std::vector<ParameterBinding> bindings;
  std::shared_ptr<const LeaderOrder> leaders; ///< null: as before
  std::string remark;
  bool dependsOnSize = true; ///< false: the outcome is the same for every n
};

/// One pass with the options that it was given.
class Pass {
public:
  virtual ~Pass() = default;
  virtual PassOptions options() = 0;
  /// A pass implements one of the two, by its kind; the other one is never called.
  virtual Result<DagOutcome> run(Schedule schedule, const DagContext &context) const;
  virtual Result<BindOutcome> bind(const BindContext &context) const;
};

struct PassInfo {
  std::string_view name;
  std::string_view summary;
  PassKind kind;
  std::unique_ptr<Pass> (*make)();
};

/// All passes, in the order of Passes.def.
std::span<const PassInfo> allPasses();
const PassInfo *findPass(std::string_view name);

/// The time in ns that the schedule takes by the context's cost model.
Result<uint64_t> timeOf(const Schedule &schedule, const DagContext &context);

/// The faster of two schedules. It is the one before if there is no difference, or if the one after
/// may deadlock where sends wait for their receives.
Result<DagOutcome> keepFaster(Schedule before, DagOutcome after, const DagContext &context);

} // namespace colldsl
