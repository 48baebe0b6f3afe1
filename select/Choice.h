/// A choice for a function in a situation, with its reasons: the rule that decides, the collective
/// that serves, and the collectives that could serve instead.
#pragma once

#include "select/Candidate.h"
#include "select/Chooser.h"

namespace colldsl {

/// The time of a collective in a point of a machine profile.
struct MeasuredTime {
  double ns = 0;
  double noise = 0;       ///< of the point: the greater one of spread and drift
  bool isLearned = false; ///< by a job: the mean over the ranks, not the slowest
};

/// A collective that could serve the call.
struct Alternative {
  TunedCollective what;
  std::optional<uint64_t> predictedNs;  ///< empty: the model has no estimate
  std::optional<MeasuredTime> measured; ///< empty: the profile has no time for it
  const SelectionRule *rule = nullptr;  ///< the first that fits and names it; null: none
  std::string why;                      ///< it was not chosen; empty: it was
};

struct Choice {
  const SelectionRule *rule = nullptr; ///< of the chooser
  Alternative chosen;
  std::vector<Alternative> others; ///< the fastest by the model first
};

/// The facts that explain a choice. The parts outlive the call.
struct ChoiceContext {
  const Chooser &chooser;
  const CostModel &cost;
  const Topology &topology;              ///< has the ranks of the situation
  std::span<const TuningPoint> measured; ///< of the profile of the machine
  CandidateLimits limits;
};

/// Explains why `rule`, which fits, decides.
Choice explainChoice(const Situation &situation, const CandidateCall &call,
                     const SelectionRule &rule, const ChoiceContext &context);

/// The error that no rule fits. Its notes have the conditions that fail, for each rule for the
/// function.
Status noRuleFits(const Situation &situation, const Chooser &chooser);

/// "line 31" of the file of rules; where that is not known, Chooser::nameOf().
std::string placeOf(const SelectionRule &rule, const Chooser &chooser);

} // namespace colldsl
