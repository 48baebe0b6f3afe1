/// Decisions of a machine profile as rules of a library.
#pragma once

#include "runtime/Library.h"
#include "topology/MachineProfile.h"

#include <span>

namespace colldsl {

/// The collective that a decision names, after it was checked: the program has it; it can be called
/// in place of those that the rules name for the function; each value is one of a parameter that
/// the contract does not have, and one that the program allows; there is a schedule for so many
/// ranks; and where there is an operator, the decision is for those that commute. An error says
/// which is not so.
Result<DeclId> checkDecision(const Program &program, std::span<const SelectionRule> rules,
                             const Decision &decision);

/// A collective of the function by which its buffers are known: the first that the rules name;
/// kNoDecl: there is no such function.
DeclId modelOf(std::span<const SelectionRule> rules, const std::string &function);

/// The collectives that can serve a function, by their names: those that begin like it, and can be
/// called as those that the rules name for it.
std::vector<DeclId> collectivesFor(const Program &program, std::span<const SelectionRule> rules,
                                   const std::string &function);

/// The decision as a rule; its arguments are still to be given.
SelectionRule ruleOf(const Decision &decision, DeclId collective);

/// The same of all, with their arguments, which the program gets. An error names the decision by
/// its number, and leaves the program as it was.
Result<std::vector<SelectionRule>> addDecisions(Program &program,
                                                std::span<const SelectionRule> rules,
                                                std::span<const Decision> decisions);

} // namespace colldsl
