/// Messages whose blocks may be empty because the call chooses their lengths. A message without
/// bytes is not sent.
#pragma once

#include "verifier/Matching.h"

namespace colldsl::proof {

/// True if the message of `send` travels in a call where all blocks [*] whose length the call
/// chooses are empty, except those of length `nonEmpty` (kFixedLength: no exception). Always true
/// if the lengths are given.
bool travels(const Model &model, const Placement &placement, Vertex send, LengthId nonEmpty);

/// The messages that travel in every call, for all lengths of blocks.
Messages thoseAlwaysSent(const Model &model, const Placement &placement, const Messages &messages);

} // namespace colldsl::proof
