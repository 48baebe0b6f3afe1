/// From what was measured to decisions.
#pragma once

#include "runtime/Library.h"
#include "topology/MachineProfile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace colldsl {

/// Fastest first, but `winner` before all others if there is one; it was compared for longer.
void sortEntries(TuningPoint &point, const TunedCollective *winner);

/// Whether the decision is for the function, ranks, nodes and bytes of the point.
bool isFor(const Decision &decision, const TuningPoint &point);

/// The points of a profile at which one of its decisions holds, in their order.
std::vector<const TuningPoint *> decidedPoints(const MachineProfile &profile);

/// Whether the fastest of a point is faster than the rules' choice beyond noise: all of the
/// interval of confidence is.
bool hasWinner(const TuningPoint &point);

/// A decision for each run of points of a function, ranks and nodes with the same winner, whose
/// bytes reach to the geometric middle of the points beside it, and past the last one as far as to
/// that of twice as far. Where the rules' choice wins there is none. A function whose ranks know no
/// common number of bytes gets one decision for all: of what loses at no point beyond noise,
/// and wins most. A point that a job learned counts for half its bytes up to twice as many at most.
std::vector<Decision> decide(const std::vector<TuningPoint> &points, Library &library);

/// What matters of a function.
struct DecidedFunction {
  bool reduces; ///< with an operator that commutes
  bool hasSize; ///< all its ranks know how many bytes there are
};

/// The same for functions that are described otherwise; nothing: there is no such function.
std::vector<Decision>
decide(const std::vector<TuningPoint> &points,
       const std::function<std::optional<DecidedFunction>(const std::string &)> &describe);

/// Adds what a job learned on the machine of the profile: points that the profile does not have,
/// and their decisions behind those that it has. Points of sweeps stay, and so do those that other
/// jobs learned. Returns how many were added.
size_t addLearned(MachineProfile &profile, const std::vector<TuningPoint> &learned,
                  Library &library);

} // namespace colldsl
