/// The decisions of a machine profile as rules of a library.
#pragma once

#include "program/library/Library.h"
#include "topology/MachineProfile.h"

#include <functional>
#include <span>
#include <vector>

namespace colldsl {

/// The collective that a decision names, after these checks: the program has it; it can be called
/// in place of those that the rules name for the function; each value is for a parameter outside
/// the contract, and the program allows it; there is a schedule for so many ranks; and if there is
/// an operator, the decision is for those that commute. An error names the check that failed.
Result<DeclId> checkDecision(const Program &program, std::span<const SelectionRule> rules,
                             const Decision &decision);

/// Appends the argument that gives a parameter of the collective the value; returns its index in
/// Program::arguments.
using AddArgument =
    std::function<Result<uint32_t>(DeclId collective, uint32_t param, int64_t value)>;

/// The decisions as rules. `add` is called once all decisions are checked. An error names the
/// decision by its number: then none of them counts.
Result<std::vector<SelectionRule>> rulesOf(const Program &program,
                                           std::span<const SelectionRule> rules,
                                           std::span<const Decision> decisions,
                                           const AddArgument &add);

/// From now on the decisions of the profile precede the rules of the library. Called at most once,
/// before any part is asked for. An error: the library cannot do what a decision names, and is
/// unchanged.
Status prefer(Library &library, const MachineProfile &profile);

} // namespace colldsl
