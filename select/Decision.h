/// Decisions of a machine profile, as measurements make them.
#pragma once

#include "program/library/Library.h"
#include "topology/MachineProfile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace colldsl {

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
/// An error: the library's rules are damaged.
Result<std::vector<Decision>> decide(const std::vector<TuningPoint> &points, Library &library);

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
/// other jobs learned. Returns the number of points added. An error, as of decide(), leaves the
/// profile unchanged.
Result<size_t> addLearned(MachineProfile &profile, const std::vector<TuningPoint> &learned,
                          Library &library);

} // namespace colldsl
