/// The first proof: every message has one sending and one receiving end, on ranks
/// that exist, of the same size.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

struct Messages {
  /// Per vertex: the other end of its message; kNoVertex if nothing travels (local ops, zero-sized
  /// sends and receives).
  PagedArray<Vertex> partner;
  uint64_t count = 0; ///< matched pairs, also those of size zero

  Vertex partnerOf(Vertex v) const { return partner[index(v)]; }
};

/// Checks the sizes of copies and combines as well. Blocks of capacity have their
/// lengths checked when the schedule is executed symbolically.
Messages matchMessages(const Model &model, const Placement &placement, const DiagnosticNames &names,
                       Failures &failures);

} // namespace colldsl::proof
