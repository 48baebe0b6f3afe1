/// Gathers and scatters of equal blocks, recognized by their contracts.
#pragma once

#include "ir/Schedule.h"

#include <optional>
#include <vector>

namespace colldsl::tools {

/// A block per rank moves to the root, or from it.
struct RootedBlocks {
  uint32_t root = 0;
  bool inPlace = false;
};

/// None: the contract is that of another collective. `sizes`: by rank.
std::optional<RootedBlocks> findRootedBlocks(const Schedule &schedule,
                                             const std::vector<Sizes> &sizes);

} // namespace colldsl::tools
