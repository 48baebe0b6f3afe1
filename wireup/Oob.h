/// Out-of-band collectives of ranks that are not connected yet.
#pragma once

#include "ir/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace colldsl {

/// Out-of-band collectives, which a launcher offers its processes. All calls are collective over
/// all ranks. If one fails, wiring up fails on this rank, and on the others once they have waited
/// in vain.
struct Oob {
  uint32_t rank = 0;
  uint32_t numRanks = 1;
  /// `bytes` bytes of each rank to everyone, in the order of the ranks.
  std::function<Status(const void *mine, void *all, size_t bytes)> allgather;
  std::function<Status()> barrier; ///< may be empty
};

} // namespace colldsl
