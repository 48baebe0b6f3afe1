#include "passes/Choose.h"

#include "passes/CanaryRte.h"
#include "passes/CombineMessages.h"
#include "passes/Direction.h"
#include "passes/EdgeColoring.h"
#include "passes/Fuse.h"
#include "passes/ProtocolChoice.h"
#include "passes/RtrTree.h"
#include "passes/TreeRebalance.h"

namespace colldsl {

void Choose::describe(PassOptions &options) {
  options.number("most-ops", "N", "of more ops nothing is tried (default: 1Mi)", mostOps);
  options.flag("static", "true|false", "buffers are the same in every call (default: false)",
               isStatic);
}

namespace {

bool hasStaticMessages(const Schedule &schedule) {
  for (const Dag &dag : schedule.ranks)
    for (const Op &op : dag.ops)
      if (op.transfer.protocol == Protocol::Static)
        return true;
  return false;
}

class Chooser {
public:
  Chooser(Schedule schedule, const Choose &options, const DagContext &context)
      : options_(options), context_(context), best_{std::move(schedule), 0, {}} {}

  Result<DagOutcome> run() {
    Result<uint64_t> first = timeOf(best_.schedule, context_);
    if (!first)
      return first.status();
    best_.time = *first;
    if (Status s = runAll(); !s)
      return s;
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
  using Chain = std::function<Status()>;

  Status runAll() {
    CombineMessages nodes;
    nodes.by = CombineMessages::By::Node;
    bool hasNodes = context_.topology.numGroups(Level::Node) > 1;
    return inTurn({[&] { return attempt("fuse", fuseOps, Fuse()); },
                   [&] { return attempt("combine-messages", combineMessages, CombineMessages()); },
                   [&] {
                     return hasNodes ? attempt("combine-messages{by=node}", combineMessages, nodes)
                                     : Status();
                   },
                   [&] { return order(); }, [&] { return travel(); },
                   [&] { return travelStatically(); }});
  }

  static Status inTurn(std::initializer_list<Chain> chains) {
    for (const Chain &chain : chains)
      if (Status s = chain(); !s)
        return s;
    return {};
  }

  /// Trees and rounds both spread the load. Keeps the better of rounds after trees, and rounds
  /// alone.
  Status order() {
    auto color = [&] { return attempt("edge-coloring", colorSends, EdgeColoring()); };
    return bestOf([&] { return attempt("tree-rebalance", rebalance, TreeRebalance()); }, color,
                  color);
  }

  /// Chooses protocols and directions. A direction has no effect on a message that goes eagerly.
  /// Static messages stay static.
  Status travel() {
    auto direct = [&] { return attempt("direction", chooseMovers, Direction()); };
    if (hasStaticMessages(best_.schedule))
      return direct();
    return bestOf([&] { return attempt("protocol", chooseProtocols, ProtocolChoice()); }, direct,
                  direct);
  }

  /// Keeps the better of `then` after `first`, and `instead` alone. Tries the second only if
  /// `first` helped.
  Status bestOf(const Chain &first, const Chain &then, const Chain &instead) {
    Candidate before = best_;
    if (Status s = first(); !s)
      return s;
    bool helped = best_.chosen != before.chosen;
    if (Status s = then(); !s || !helped)
      return s;
    std::swap(before, best_);
    if (Status s = instead(); !s)
      return s;
    keepFaster(std::move(before));
    return {};
  }

  /// Tries all static ways together: a flag costs more than it saves without a canary, or trees of
  /// notices.
  Status travelStatically() {
    if (!options_.isStatic)
      return hasStaticMessages(best_.schedule) ? announce() : Status();
    ProtocolChoice usual;
    usual.isStatic = true;
    ProtocolChoice always = usual;
    always.eager.assign(always.eager.size(), 0);
    return inTurn({[&] { return travelAs("protocol{static=true}", usual); },
                   [&] { return travelAs("protocol{static=true;eager=0x0x0x0}", always); }});
  }

  Status travelAs(const char *name, const ProtocolChoice &protocol) {
    Candidate before = best_;
    if (Status s = apply(name, chooseProtocols, protocol); !s)
      return s;
    if (Status s = announce(); !s)
      return s;
    keepFaster(std::move(before));
    return {};
  }

  Status announce() {
    if (Status s = attempt("canary-rte", addCanaries, CanaryRte()); !s)
      return s;
    return attempt("rtr-tree", addRtrTrees, RtrTree());
  }

  void keepFaster(Candidate other) {
    if (other.time <= best_.time)
      best_ = std::move(other);
  }

  /// Runs a pass. Its result is kept if it is faster, or as fast with fewer ops.
  template <typename Function, typename Settings>
  Status attempt(const char *name, Function pass, const Settings &settings) {
    Candidate before = best_;
    if (Status s = apply(name, pass, settings); !s)
      return s;
    bool isSmaller = best_.schedule.numOps() < before.schedule.numOps();
    if (best_.time > before.time || (best_.time == before.time && !isSmaller))
      best_ = std::move(before);
    return {};
  }

  template <typename Function, typename Settings>
  Status apply(const char *name, Function pass, const Settings &settings) {
    Result<DagOutcome> made = pass(std::move(best_.schedule), settings, context_);
    if (!made)
      return made.status();
    Result<uint64_t> now = timeOf(made->schedule, context_);
    if (!now)
      return now.status();
    best_.time = *now;
    best_.schedule = std::move(made->schedule);
    best_.chosen += (best_.chosen.empty() ? "" : ", ") + std::string(name);
    return {};
  }

  const Choose &options_;
  const DagContext &context_;
  Candidate best_;
};

} // namespace

Result<DagOutcome> choosePasses(Schedule schedule, const Choose &options,
                                const DagContext &context) {
  if (schedule.numOps() > options.mostOps)
    return DagOutcome{std::move(schedule), "nothing tried: too many ops"};
  return Chooser(std::move(schedule), options, context).run();
}

} // namespace colldsl
