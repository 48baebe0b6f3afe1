#include "runtime/PreferredLibrary.h"

#include "ir/Concat.h"
#include "runtime/CallInterface.h"

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

Result<std::set<std::string>> functionsOf(Library &preferred, Library &standard,
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
