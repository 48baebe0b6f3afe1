#include "passes/Tune.h"

#include "passes/DistanceRing.h"
#include "passes/DistanceTree.h"
#include "passes/LeaderSelection.h"
#include "passes/OptimalTree.h"
#include "passes/TuningParameters.h"

#include <algorithm>
#include <map>
#include <optional>

namespace colldsl {

void Tune::describe(PassOptions &options) {
  options.number("most-ranks", "N", "with more ranks nothing is tried (default: 512)", mostRanks);
  options.number("most-ops", "N",
                 "what has more ops of all ranks is not simulated (default: 256000000)", mostOps,
                 1);
}

namespace {

/// A trial, and its name for people.
struct Trial {
  std::optional<ParameterBinding> binding; ///< nothing: leaders
  std::shared_ptr<const LeaderOrder> leaders;
  std::string words;
};

class Tuner {
public:
  Tuner(const BindContext &context, uint64_t mostOps)
      : context_(context), decl_(context.program.decl(context.request.collective)),
        request_(context.request) {
    request_.limits.maxTotalOps = std::min(request_.limits.maxTotalOps, mostOps);
  }

  Result<BindOutcome> run() {
    collect();
    if (trials_.empty())
      return BindOutcome{{}, nullptr, "nothing to tune", false};
    Result<uint64_t> first = time(request_);
    if (!first) // another place reports what cannot be run with its defaults
      return BindOutcome{{}, nullptr, "not tuned: " + first.message()};
    best_ = *first;
    constexpr int kSweeps = 2;
    bool isBetter = true;
    for (int sweep = 0; sweep < kSweeps && isBetter; ++sweep) {
      uint64_t before = best_;
      for (const Trial &trial : trials_)
        attempt(trial);
      isBetter = best_ < before;
    }
    BindOutcome outcome;
    outcome.remark = std::to_string(*first) + " ns, then " + std::to_string(best_) + " ns";
    for (const auto &[what, trial] : chosen_) {
      outcome.remark += "; " + what + " = " + trial.words;
      if (trial.binding)
        outcome.bindings.push_back(*trial.binding);
      else
        outcome.leaders = trial.leaders;
    }
    return outcome;
  }

private:
  Result<uint64_t> time(const InstantiateRequest &request) const {
    return context_.cost.makespanNs(context_.program, request);
  }

  /// Collects trials of leaders, then for each tuning parameter the program's candidates and the
  /// trees of the passes for trees.
  void collect() {
    if (!request_.leaders && looksAtGroups())
      collectLeaders();
    std::vector<Trial> trees = treesOfPasses();
    for (uint32_t p = 0; p < decl_.params.size(); ++p) {
      if (!isTuningParameter(context_, p))
        continue;
      for (ParameterBinding &candidate : candidatesOf(context_, p)) {
        std::string words = wordOf(context_, candidate);
        trials_.push_back({std::move(candidate), nullptr, std::move(words)});
      }
      for (const Trial &tree : trees)
        if (tree.binding->param == p)
          trials_.push_back(tree);
    }
  }

  /// True if leaders make a difference. If they make none on the first rank, they mostly make none
  /// on others.
  bool looksAtGroups() const {
    Instantiator instantiator(context_.program, request_);
    Dag dag;
    return instantiator.instantiate(Rank{0}, dag) && instantiator.usedTopology();
  }

  void collectLeaders() {
    using By = LeaderSelection::By;
    Topology flat = Topology::flat(request_.ranks);
    const Topology &topology = request_.topology ? *request_.topology : flat;
    for (auto [by, words] : {std::pair(By::Core, "core"), {By::Nic, "nic"}, {By::Load, "load"}}) {
      LeaderSelection options;
      options.by = by;
      auto order = std::make_shared<const LeaderOrder>(orderLeaders(topology, options));
      const std::vector<uint32_t> &places = order->places[static_cast<size_t>(Level::Node)];
      if (!std::is_sorted(places.begin(), places.end())) // else they lead anyway
        trials_.push_back({std::nullopt, std::move(order), words});
    }
  }

  /// The trees of the passes; none if the root is not known.
  std::vector<Trial> treesOfPasses() const {
    using Shape = DistanceTree::Shape;
    using Form = OptimalTree::Form;
    std::vector<Trial> trees;
    auto add = [&](const char *words, Result<BindOutcome> made) {
      if (made)
        for (ParameterBinding &binding : made->bindings)
          trees.push_back({std::move(binding), nullptr, words});
    };
    add("optimal-tree", bindOptimalTree(context_, {Form::Postal, 0}));
    add("optimal-tree{form=exact}", bindOptimalTree(context_, {Form::Exact, 0}));
    add("distance-tree", bindDistanceTree(context_, {Shape::Binomial}));
    add("distance-tree{shape=flat}", bindDistanceTree(context_, {Shape::Flat}));
    add("distance-ring", bindDistanceRing(context_, {}));
    return trees;
  }

  void attempt(const Trial &trial) {
    InstantiateRequest request = request_;
    if (trial.binding)
      bindTo(*trial.binding, request);
    else
      request.leaders = trial.leaders.get();
    Result<uint64_t> now = time(request); // a value that does not fit is no candidate
    if (!now || *now >= best_)
      return;
    best_ = *now;
    request_ = std::move(request);
    chosen_[trial.binding ? context_.program.nameOf(decl_.params[trial.binding->param])
                          : "leaders"] = trial;
  }

  const BindContext &context_;
  const Decl &decl_;
  InstantiateRequest request_;
  uint64_t best_ = 0;
  std::vector<Trial> trials_;
  std::map<std::string, Trial> chosen_; ///< by the thing that it sets
};

bool hasCallTimeBlocks(const Decl &decl) {
  return std::any_of(decl.params.begin(), decl.params.end(), [](const Param &param) {
    DimKind kind = param.buffer.dim[param.buffer.dims - 1].kind;
    return param.isBuffer && kind == DimKind::CallTime;
  });
}

} // namespace

Result<BindOutcome> tuneParameters(const BindContext &context, const Tune &options) {
  if (context.request.ranks > options.mostRanks)
    return BindOutcome{{}, nullptr, "not tuned: too many ranks", false};
  if (hasCallTimeBlocks(context.program.decl(context.request.collective)))
    return BindOutcome{{}, nullptr, "not tuned: sizes are known at call time only", false};
  return Tuner(context, options.mostOps).run();
}

} // namespace colldsl
