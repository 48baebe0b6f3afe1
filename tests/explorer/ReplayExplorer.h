/// As Explorer, of a machine that cannot be copied, for it is the code that runs: each order of
/// steps is taken from the beginning, as far as a state that was seen before. Those of many steps
/// come first.
///
///   std::vector<Step> steps() const;  void take(step);  static std::string nameOf(step);
///   Digest digest(bool hasHistory) const;
///   std::string violation() const;  std::string unfinished() const;
#pragma once

#include "tests/explorer/Explorer.h"
#include "tests/explorer/Scenario.h"
#include "tests/explorer/ScriptedTransport.h"

#include <malloc.h>

namespace colldsl::test {

template <typename World> class ReplayExplorer {
public:
  explicit ReplayExplorer(const Scenario &scenario) : scenario_(scenario) {
    mallopt(M_TRIM_THRESHOLD, 1 << 30); // each order frees all that it took
  }

  using States = std::unordered_set<Digest, DigestHash>;

  /// Up to so many states; what is found then is not complete.
  Exploration run(uint64_t mostStates = UINT64_MAX) {
    do
      replay();
    while (found_.wrong.empty() && seen_.size() < mostStates && advance());
    found_.states = seen_.size();
    found_.isComplete = path_.empty() || !found_.wrong.empty();
    return found_;
  }
  /// Those that were reached, without their histories.
  const States &reached() const { return scenario_.hasHistories ? withoutHistories_ : seen_; }

private:
  using Step = typename World::Step;
  struct Choice {
    std::vector<Step> steps;
    size_t taken = 0;
  };

  void replay() {
    World world(scenario_);
    for (const Choice &choice : path_)
      world.take(choice.steps[choice.taken]);
    for (;;) { // what a step did wrong need not be seen in the state that it leads to
      if (std::string wrong = world.violation(); !wrong.empty())
        return blame(wrong);
      if (!seen_.insert(world.digest(scenario_.hasHistories)).second)
        return;
      if (scenario_.hasHistories)
        withoutHistories_.insert(world.digest(false));
      std::vector<Step> steps = world.steps();
      if (steps.empty()) {
        ++found_.ends;
        if (std::string wrong = world.unfinished(); !wrong.empty())
          blame(wrong);
        return;
      }
      path_.push_back({std::move(steps)});
      world.take(path_.back().steps[0]);
    }
  }

  /// False: there is no other order left.
  bool advance() {
    while (!path_.empty() && ++path_.back().taken == path_.back().steps.size())
      path_.pop_back();
    return !path_.empty();
  }

  void blame(const std::string &wrong) {
    found_.wrong = wrong;
    for (const Choice &choice : path_)
      found_.wrong += "\n  " + World::nameOf(choice.steps[choice.taken]);
  }

  Scenario scenario_;
  States seen_, withoutHistories_;
  std::vector<Choice> path_; ///< from the beginning
  Exploration found_;
};

} // namespace colldsl::test
