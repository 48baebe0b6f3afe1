/// Functions: the operations of MPI that programs name, for each of which rules choose a
/// collective.
#pragma once

#include "program/library/Library.h"

#include <set>
#include <span>
#include <string>

namespace colldsl {

/// True if the collective combines elements by an operator.
bool reduces(const Decl &collective);

/// All functions of the rules, in their order.
std::vector<std::string> functionsOf(const std::vector<SelectionRule> &rules);

/// The collective whose buffers stand for those of the function: the first that the rules name;
/// kNoDecl: there is no such function.
DeclId modelOf(std::span<const SelectionRule> rules, const std::string &function);

/// The collectives that can serve a function, by their names: the names begin with that of the
/// function, and the collectives can be called as those that the rules name for it.
std::vector<DeclId> collectivesFor(const Program &program, std::span<const SelectionRule> rules,
                                   const std::string &function);

/// The functions that the preferred library may serve in place of the standard one: those for which
/// it has a collective of that name, or rules, and for which all collectives that these name can be
/// called in place of those of the standard library, with the same contract (CallInterface.h). So
/// the answer depends on no rank and no call. `problem`: the functions that it names and does not
/// serve, and the reason; empty: none.
Result<std::set<std::string>> servedBy(Library &preferred, Library &standard, std::string &problem);

} // namespace colldsl
