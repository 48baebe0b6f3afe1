/// Any number of bytes of each rank to everyone, over what a launcher offers.
#pragma once

#include "runtime/WireUp.h"

namespace colldsl {

/// Collective: two allgathers, of lengths, and of as many bytes as the longest has. By rank.
Result<std::vector<std::vector<std::byte>>> gatherAll(const OutOfBand &launcher,
                                                      std::span<const std::byte> mine);

} // namespace colldsl
