#include "select/Chooser.h"

#include "ir/Concat.h"
#include "select/Rule.h"

#include <algorithm>

namespace colldsl {

Result<Chooser> Chooser::of(Library &library) {
  Result<const std::vector<SelectionRule> *> all = library.rules();
  if (!all)
    return all.status();
  std::span<const SelectionRule> rules = **all;
  size_t preceding = library.numPreceding();
  return Chooser(**library.program(), rules.first(preceding), rules.subspan(preceding));
}

const SelectionRule *Chooser::choose(const Situation &situation, const SelectionRule *last) const {
  for (std::span<const SelectionRule> part : {decisions_, rules_})
    for (const SelectionRule &rule : part) {
      if (last)
        last = last == &rule ? nullptr : last;
      else if (fits(rule, situation))
        return &rule;
    }
  return nullptr;
}

namespace {

/// The bytes within the rule's bounds, of calls of so many ranks.
Chooser::Bytes bytesOf(const SelectionRule &rule, uint32_t ranks) {
  uint64_t leastOfTotal = rule.minTotal / ranks + (rule.minTotal % ranks != 0);
  uint64_t mostOfTotal = rule.maxTotal == UINT64_MAX ? UINT64_MAX : rule.maxTotal / ranks;
  return {std::max(rule.minBytes, leastOfTotal), std::min(rule.maxBytes, mostOfTotal)};
}

} // namespace

Chooser::Bytes Chooser::alikeAround(const Situation &situation) const {
  Bytes alike;
  for (std::span<const SelectionRule> part : {decisions_, rules_})
    for (const SelectionRule &rule : part) {
      Bytes served = bytesOf(rule, situation.ranks);
      Situation at = situation;
      at.bytes = served.least;
      if (!fits(rule, at))
        continue;
      if (situation.bytes < served.least) {
        alike.most = std::min(alike.most, served.least - 1);
      } else if (situation.bytes > served.most) {
        alike.least = std::max(alike.least, served.most + 1);
      } else {
        return {std::max(alike.least, served.least), std::min(alike.most, served.most)};
      }
    }
  return alike;
}

bool Chooser::isDecision(const SelectionRule &rule) const {
  return std::any_of(decisions_.begin(), decisions_.end(),
                     [&](const SelectionRule &decision) { return &decision == &rule; });
}

std::string Chooser::nameOf(const SelectionRule &rule) const {
  return isDecision(rule)
             ? concat("decision ", &rule - decisions_.data(), " of the profile for ", rule.function)
             : concat("rule ", &rule - rules_.data() + 1, " for ", rule.function);
}

std::vector<ExprId> Chooser::argumentsOf(const SelectionRule &rule) const {
  std::vector<ExprId> arguments(program_.decl(DeclId{rule.collective}).params.size(), kNoExpr);
  for (uint32_t argument : rule.arguments)
    arguments[program_.arguments[argument].param] = program_.arguments[argument].value;
  return arguments;
}

TunedCollective Chooser::collectiveOf(const SelectionRule &rule) const {
  const Decl &decl = program_.decl(DeclId{rule.collective});
  TunedCollective what{program_.nameOf(decl), {}};
  std::vector<ExprId> arguments = argumentsOf(rule);
  for (size_t p = 0; p < arguments.size(); ++p)
    if (arguments[p] != kNoExpr && program_.expr(arguments[p]).kind == ExprKind::IntLit)
      what.values.push_back({program_.nameOf(decl.params[p]), program_.expr(arguments[p]).value});
  return what;
}

} // namespace colldsl
