/// Messages where blocks of lengths that calls choose may be empty: one without bytes is not sent.
#pragma once

#include "verifier/Matching.h"

namespace colldsl::proof {

/// Whether the message of `send` travels where, of the blocks [*] of a length that the call
/// chooses, those of length `nonEmpty` alone hold anything (kFixedLength: none of them). Of a
/// message that travels where none is empty. Always, if the lengths are given.
bool travels(const Model &model, const Placement &placement, Vertex send, LengthId nonEmpty);

/// Those that travel whatever the lengths are.
Messages thoseAlwaysSent(const Model &model, const Placement &placement, const Messages &messages);

} // namespace colldsl::proof
