/// Compares two lists of slices: do data continue at the same positions in both, for all lengths of
/// blocks?
#pragma once

#include "verifier/State.h"

#include <span>

namespace colldsl::proof {

enum class Alignment : uint8_t {
  Same,    ///< blocks of one length stand opposite each other, and as many other bytes between them
  Shifted, ///< the lists are as long, but blocks of one length do not stand opposite each other
  Unequal, ///< the lists have different lengths, at some lengths of blocks
};

/// Parts in bytes. Example: [3 bytes, block of length a] and [1 byte, 2 bytes, block of length a]
/// are the same; [a, b] and [b, a] are shifted; [a] and [b] are unequal.
Alignment alignmentOf(std::span<const Length> first, std::span<const Length> second);

} // namespace colldsl::proof
