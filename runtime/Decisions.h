/// Decisions of a machine profile as rules of a library.
#pragma once

#include "runtime/Library.h"
#include "topology/MachineProfile.h"

#include <span>

namespace colldsl {

/// The collective that a decision names, after these checks: the program has it; it can be called
/// in place of those that the rules name for the function; each value is for a parameter outside
/// the contract, and the program allows it; there is a schedule for so many ranks; and if there is
/// an operator, the decision is for those that commute. An error names the check that failed.
Result<DeclId> checkDecision(const Program &program, std::span<const SelectionRule> rules,
                             const Decision &decision);

/// The collective whose buffers stand for those of the function: the first that the rules name;
/// kNoDecl: there is no such function.
DeclId modelOf(std::span<const SelectionRule> rules, const std::string &function);

/// The collectives that can serve a function, by their names: the names begin with that of the
/// function, and the collectives can be called as those that the rules name for it.
std::vector<DeclId> collectivesFor(const Program &program, std::span<const SelectionRule> rules,
                                   const std::string &function);

/// Makes a rule of the decision; the caller sets its arguments.
SelectionRule ruleOf(const Decision &decision, DeclId collective);

/// Variant of ruleOf() for all decisions, with their arguments, which are added to the program. An
/// error names the decision by its number, and leaves the program unchanged.
Result<std::vector<SelectionRule>> addDecisions(Program &program,
                                                std::span<const SelectionRule> rules,
                                                std::span<const Decision> decisions);

} // namespace colldsl
