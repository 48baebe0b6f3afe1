/// Any number of bytes of each rank to everyone, by out-of-band collectives.
#pragma once

#include "wireup/Oob.h"

#include <span>
#include <vector>

namespace colldsl {

/// Collective: two allgathers, of lengths, and of as many bytes as the longest has. By rank.
Result<std::vector<std::vector<std::byte>>> allgatherv(const Oob &oob,
                                                       std::span<const std::byte> mine);

} // namespace colldsl
