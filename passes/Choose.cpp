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
      : context_(context), best_{std::move(schedule), 0, {}} {}

  Result<DagOutcome> run() {
    Result<uint64_t> first = timeOf(best_.schedule, context_);
    if (!first)
      return first.status();
    best_.time = *first;
    CombineMessages nodes;
    nodes.by = CombineMessages::By::Node;
    Status status = attempt("fuse", fuseOps, Fuse());
    if (status)
      status = attempt("combine-messages", combineMessages, CombineMessages());
    if (status && context_.topology.numGroups(Level::Node) > 1)
      status = attempt("combine-messages{by=node}", combineMessages, nodes);
    if (status)
      status = order();
    if (!status)
      return status;
    std::string remark = (best_.chosen.empty() ? "nothing helps" : best_.chosen) + "; " +
                         std::to_string(*first) + " ns, then " + std::to_string(best_.time) + " ns";
    return DagOutcome{std::move(best_.schedule), std::move(remark)};
  }

private:
  struct Candidate {
    Schedule schedule;
    uint64_t time; ///< ns
    std::string chosen;
  };

  /// Trees and rounds both spread the load: the better of rounds alone, and trees with rounds.
  Status order() {
    Candidate before = best_;
    if (Status s = attempt("tree-rebalance", rebalance, TreeRebalance()); !s)
      return s;
    bool hasTrees = best_.chosen != before.chosen;
    if (Status s = attempt("edge-coloring", colorSends, EdgeColoring()); !s || !hasTrees)
      return s;
    std::swap(before, best_);
    if (Status s = attempt("edge-coloring", colorSends, EdgeColoring()); !s)
      return s;
    if (before.time <= best_.time)
      best_ = std::move(before);
    return {};
  }

  /// Kept if it is faster, or as fast with fewer ops.
  template <typename Function, typename Settings>
  Status attempt(const char *name, Function pass, const Settings &settings) {
    Result<DagOutcome> made = pass(best_.schedule, settings, context_);
    if (!made)
      return made.status();
    Result<uint64_t> now = timeOf(made->schedule, context_);
    if (!now)
      return now.status();
    bool isSmaller = made->schedule.numOps() < best_.schedule.numOps();
    if (*now > best_.time || (*now == best_.time && !isSmaller))
      return {};
    best_.time = *now;
    best_.schedule = std::move(made->schedule);
    best_.chosen += (best_.chosen.empty() ? "" : ", ") + std::string(name);
    return {};
  }

  const DagContext &context_;
  Candidate best_;
};

} // namespace

Result<DagOutcome> choosePasses(Schedule schedule, const Choose &options,
                                const DagContext &context) {
  if (schedule.numOps() > options.mostOps)
    return DagOutcome{std::move(schedule), "nothing tried: too many ops"};
  return Chooser(std::move(schedule), context).run();
}

} // namespace colldsl
