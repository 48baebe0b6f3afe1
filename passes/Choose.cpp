#include "passes/Choose.h"

#include "passes/CombineMessages.h"
#include "passes/EdgeColoring.h"
#include "passes/Fuse.h"
#include "passes/TreeRebalance.h"

namespace colldsl {

void Choose::describe(PassOptions &options) {
  options.number("most-ops", "N", "of more ops nothing is tried (default: 1Mi)", mostOps);
}

namespace {

class Chooser {
public:
  Chooser(Schedule schedule, const DagContext &context)
      : outcome_{std::move(schedule), {}}, context_(context) {}

  Result<DagOutcome> run() {
    Result<uint64_t> first = timeOf(outcome_.schedule, context_);
    if (!first)
      return first.status();
    time_ = *first;
    CombineMessages nodes;
    nodes.by = CombineMessages::By::Node;
    Status status = attempt("fuse", fuseOps, Fuse());
    if (status)
      status = attempt("combine-messages", combineMessages, CombineMessages());
    if (status && context_.topology.numGroups(Level::Node) > 1)
      status = attempt("combine-messages{by=node}", combineMessages, nodes);
    if (status)
      status = attempt("tree-rebalance", rebalance, TreeRebalance());
    if (status)
      status = attempt("edge-coloring", colorSends, EdgeColoring());
    if (!status)
      return status;
    outcome_.remark = (chosen_.empty() ? "nothing helps" : chosen_) + "; " +
                      std::to_string(*first) + " ns, then " + std::to_string(time_) + " ns";
    return std::move(outcome_);
  }

private:
  /// Kept if it is faster, or as fast with fewer ops.
  template <typename Function, typename Settings>
  Status attempt(const char *name, Function pass, const Settings &settings) {
    Result<DagOutcome> made = pass(outcome_.schedule, settings, context_);
    if (!made)
      return made.status();
    Result<uint64_t> now = timeOf(made->schedule, context_);
    if (!now)
      return now.status();
    bool isSmaller = made->schedule.numOps() < outcome_.schedule.numOps();
    if (*now > time_ || (*now == time_ && !isSmaller))
      return {};
    time_ = *now;
    outcome_.schedule = std::move(made->schedule);
    chosen_ += (chosen_.empty() ? "" : ", ") + std::string(name);
    return {};
  }

  DagOutcome outcome_;
  const DagContext &context_;
  uint64_t time_ = 0;
  std::string chosen_;
};

} // namespace

Result<DagOutcome> choosePasses(Schedule schedule, const Choose &options,
                                const DagContext &context) {
  if (schedule.numOps() > options.mostOps)
    return DagOutcome{std::move(schedule), "nothing tried: too many ops"};
  return Chooser(std::move(schedule), context).run();
}

} // namespace colldsl
