#include "runtime/PreferredLibrary.h"

#include "ir/Concat.h"
#include "program/Operands.h"

#include <algorithm>
#include <map>

namespace colldsl {
namespace {

/// A collective as calls see it.
struct Interface {
  std::map<std::string, BufferRole> buffers;
  std::map<std::string, ValueType> contract; ///< parameters
  std::set<std::string> needed;              ///< parameters without a default

  Interface(const Program &program, const Decl &decl) {
    std::vector<bool> isInContract = contractParams(program, decl);
    for (size_t p = 0; p < decl.params.size(); ++p) {
      const Param &param = decl.params[p];
      const std::string &name = program.nameOf(param);
      if (param.isBuffer)
        buffers[name] = param.role;
      else if (isInContract[p])
        contract[name] = param.type;
      if (!param.isBuffer && param.defaultValue == kNoExpr)
        needed.insert(name);
    }
  }

  /// Whether a call that suits `other` suits this.
  bool takesWhatSuits(const Interface &other) const {
    return buffers == other.buffers && contract == other.contract &&
           std::all_of(needed.begin(), needed.end(),
                       [&](const std::string &name) { return other.contract.contains(name); });
  }
};

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
    Interface wanted(standardProgram, standardProgram.decl(DeclId{*known.begin()}));
    std::set<uint32_t> named = (*ours)[function];
    if (DeclId same = program.find(function, DeclKind::Collective); same != kNoDecl)
      named.insert(index(same));
    auto wrong = std::find_if(named.begin(), named.end(), [&](uint32_t id) {
      return !Interface(program, program.decl(DeclId{id})).takesWhatSuits(wanted);
    });
    if (wrong != named.end())
      problem +=
          concat(problem.empty() ? "" : "; ", "'", program.nameOf(program.decl(DeclId{*wrong})),
                 "' has other parameters than '",
                 standardProgram.nameOf(standardProgram.decl(DeclId{*known.begin()})),
                 "', so it serves no ", function);
    else if (!named.empty())
      functions.insert(function);
  }
  return functions;
}

} // namespace colldsl
