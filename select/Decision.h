/// Decisions of a machine profile: how they are made from measurements, and the rules that they
/// are.
#pragma once

#include "program/library/Library.h"
#include "topology/MachineProfile.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace colldsl {

// Decisions as rules: DecisionRules.cpp.

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

// From measurements (Decision.cpp).

/// Fastest first, but `winner` before all others if there is one; it was compared for longer.
void sortEntries(TuningPoint &point, const TunedCollective *winner);

/// True if the decision is for the function, ranks, nodes and bytes of the point.
bool isFor(const Decision &decision, const TuningPoint &point);

/// The points of a profile at which one of its decisions holds, in their order.
std::vector<const TuningPoint *> decidedPoints(const MachineProfile &profile);

/// True if the fastest of a point is faster than the rules' choice beyond noise: the whole
/// confidence interval shows it.
bool hasWinner(const TuningPoint &point);

/// Makes a decision for each run of points of a function, ranks and nodes with the same winner. Its
/// bytes reach to the geometric middle between neighbouring points, and past the last point as far
/// as if the next had twice its bytes. There is none if the rules' choice wins. A function whose
/// ranks know no common number of bytes gets one decision for all: for the candidate that loses at
/// no point beyond noise, and wins most. A point that a job learned counts at most from half its
/// bytes to twice as many.
std::vector<Decision> decide(const std::vector<TuningPoint> &points, Library &library);

/// The properties of a function that decisions depend on.
struct DecidedFunction {
  bool reduces; ///< combines, measured with an operator that commutes
  bool hasSize; ///< all its ranks know the number of bytes
};

/// Variant of decide() with `describe` in place of the library; empty: there is no such function.
std::vector<Decision>
decide(const std::vector<TuningPoint> &points,
       const std::function<std::optional<DecidedFunction>(const std::string &)> &describe);

/// Adds the points that a job learned on the machine of the profile, if the profile does not have
/// them, and their decisions behind those that it has. Points of sweeps stay, and so do those that
/// other jobs learned. Returns the number of points added.
size_t addLearned(MachineProfile &profile, const std::vector<TuningPoint> &learned,
                  Library &library);

} // namespace colldsl
