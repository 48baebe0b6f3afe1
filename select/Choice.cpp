#include "select/Choice.h"

#include "ir/Concat.h"
#include "select/Rule.h"

#include <algorithm>

namespace colldsl {
namespace {

class Explanation {
public:
  Explanation(const Situation &situation, const CandidateCall &call, const ChoiceContext &context)
      : situation_(situation), call_(call), context_(context), chooser_(context.chooser) {}

  Choice make(const SelectionRule &rule) const {
    Choice choice;
    choice.rule = &rule;
    choice.chosen.what = chooser_.collectiveOf(rule);
    choice.chosen.rule = &rule;
    choice.chosen.predictedNs = predictedOf(rule);
    choice.chosen.measured = measuredOf(choice.chosen.what);
    bool isWhole = choice.chosen.what.values.size() == rule.arguments.size();
    CandidateFinder finder(chooser_.program(), chooser_.rules(), context_.cost, context_.topology);
    for (RatedCandidate &candidate : finder.find(call_, context_.limits))
      if (!isWhole || candidate.what != choice.chosen.what)
        choice.others.push_back(alternativeOf(candidate, rule));
    return choice;
  }

private:
  std::optional<uint64_t> predictedOf(const SelectionRule &rule) const {
    InstantiateRequest request =
        requestFor(chooser_.program(), DeclId{rule.collective}, call_, context_.topology);
    request.arguments = chooser_.argumentsOf(rule);
    request.limits.maxTotalOps = std::min(request.limits.maxTotalOps, context_.limits.mostOps);
    Result<uint64_t> ns = context_.cost.makespanNs(chooser_.program(), request);
    return ns ? std::optional(*ns) : std::nullopt;
  }

  /// The time in the point for as many bytes on as many ranks and nodes.
  std::optional<MeasuredTime> measuredOf(const TunedCollective &what) const {
    for (const TuningPoint &point : context_.measured) {
      bool isHere = point.function == situation_.function && point.ranks == situation_.ranks &&
                    point.nodes == situation_.nodes && point.bytes == situation_.bytes;
      if (!isHere)
        continue;
      double noise = std::max(point.spread, point.drift);
      if (point.shipped == what)
        return MeasuredTime{point.shippedNs, noise, point.isLearned};
      for (const TuningPoint::Entry &entry : point.entries)
        if (entry.what == what)
          return MeasuredTime{entry.ns, noise, point.isLearned};
    }
    return std::nullopt;
  }

  Alternative alternativeOf(const RatedCandidate &candidate, const SelectionRule &chosen) const {
    Alternative other;
    other.what = candidate.what;
    other.predictedNs = candidate.ns;
    other.measured = measuredOf(candidate.what);
    const SelectionRule *unfit = nullptr;
    for (std::span<const SelectionRule> part : {chooser_.decisions(), chooser_.rules()})
      for (const SelectionRule &rule : part) {
        if (rule.function != situation_.function || !names(rule, candidate.what))
          continue;
        const SelectionRule *&first = fits(rule, situation_) ? other.rule : unfit;
        first = first ? first : &rule;
      }
    bool hasValues = !candidate.what.values.empty();
    other.why = other.rule == &chosen ? "the rule that decides leaves these values open"
                : other.rule ? placeOf(*other.rule, chooser_) + " fits, too, but comes later"
                : unfit      ? concat(placeOf(*unfit, chooser_), ": ", whyNot(*unfit, situation_))
                             : concat("no rule names it", hasValues ? " with these values" : "");
    return other;
  }

  /// True if the rule's collective is this one, and its arguments are among these values.
  bool names(const SelectionRule &rule, const TunedCollective &what) const {
    TunedCollective its = chooser_.collectiveOf(rule);
    return its.name == what.name && its.values.size() == rule.arguments.size() &&
           std::all_of(its.values.begin(), its.values.end(), [&](const auto &value) {
             return std::find(what.values.begin(), what.values.end(), value) != what.values.end();
           });
  }

  const Situation &situation_;
  const CandidateCall &call_;
  const ChoiceContext &context_;
  const Chooser &chooser_;
};

} // namespace

std::string placeOf(const SelectionRule &rule, const Chooser &chooser) {
  return rule.line ? concat("line ", rule.line) : chooser.nameOf(rule);
}

Status noRuleFits(const Situation &situation, const Chooser &chooser) {
  Diagnostic error = Diagnostic::error(
      {}, concat("no rule for '", situation.function, "' fits ", situation.words()));
  for (std::span<const SelectionRule> part : {chooser.decisions(), chooser.rules()})
    for (const SelectionRule &rule : part)
      if (rule.function == situation.function)
        error.notes.push_back(
            Diagnostic::note({}, concat(placeOf(rule, chooser), ": ", whyNot(rule, situation))));
  return error;
}

Choice explainChoice(const Situation &situation, const CandidateCall &call,
                     const SelectionRule &rule, const ChoiceContext &context) {
  return Explanation(situation, call, context).make(rule);
}

} // namespace colldsl
