#include "select/Function.h"

#include "ir/Concat.h"
#include "program/CallInterface.h"

#include <algorithm>
#include <map>

namespace colldsl {
namespace {

using Collectives = std::map<std::string, std::set<uint32_t>>; ///< DeclIds, by function

Result<Collectives> collectivesOf(Library &library) {
  Result<const std::vector<SelectionRule> *> rules = library.rules();
  if (!rules)
    return rules.status();
  Collectives found;
  for (const SelectionRule &rule : **rules)
    found[rule.function].insert(rule.collective);
  return found;
}

} // namespace

bool reduces(const Decl &collective) {
  return std::any_of(collective.params.begin(), collective.params.end(),
                     [](const Param &p) { return p.type == ValueType::Reduction; });
}

std::vector<std::string> functionsOf(const std::vector<SelectionRule> &rules) {
  std::vector<std::string> functions;
  for (const SelectionRule &rule : rules)
    if (std::find(functions.begin(), functions.end(), rule.function) == functions.end())
      functions.push_back(rule.function);
  return functions;
}

DeclId modelOf(std::span<const SelectionRule> rules, const std::string &function) {
  auto rule = std::find_if(rules.begin(), rules.end(),
                           [&](const SelectionRule &r) { return r.function == function; });
  return rule == rules.end() ? kNoDecl : DeclId{rule->collective};
}

std::vector<DeclId> collectivesFor(const Program &program, std::span<const SelectionRule> rules,
                                   const std::string &function) {
  std::vector<DeclId> found;
  DeclId model = modelOf(rules, function);
  if (model == kNoDecl)
    return found;
  CallInterface wanted(program, program.decl(model));
  for (uint32_t d = 0; d < program.decls.size(); ++d) {
    const Decl &decl = program.decls[d];
    // Helpers have other names: a helper may have such an interface and compute something else.
    bool isOurs = decl.kind == DeclKind::Collective &&
                  program.nameOf(decl).starts_with(function + "_") &&
                  CallInterface(program, decl).whyNotFor(wanted).empty();
    if (isOurs)
      found.push_back(DeclId{d});
  }
  return found;
}

Result<std::set<std::string>> servedBy(Library &preferred, Library &standard,
                                       std::string &problem) {
  Result<Collectives> theirs = collectivesOf(standard), ours = collectivesOf(preferred);
  for (const Result<Collectives> *collectives : {&theirs, &ours})
    if (!*collectives)
      return collectives->status();
  const Program &standardProgram = **standard.program(), &program = **preferred.program();
  std::set<std::string> functions;
  for (const auto &[function, known] : *theirs) {
    CallInterface wanted(standardProgram, standardProgram.decl(DeclId{*known.begin()}));
    std::set<uint32_t> named = (*ours)[function];
    if (DeclId same = program.find(function, DeclKind::Collective); same != kNoDecl)
      named.insert(index(same));
    std::string wrong;
    for (uint32_t id : named) {
      const Decl &decl = program.decl(DeclId{id});
      std::string why = CallInterface(program, decl).whyNotFor(wanted);
      if (!why.empty() && wrong.empty())
        wrong = concat("'", program.nameOf(decl), "' serves no ", function, ": ", why);
    }
    if (!wrong.empty())
      problem += (problem.empty() ? "" : "; ") + wrong;
    else if (!named.empty())
      functions.insert(function);
  }
  return functions;
}

} // namespace colldsl
