/// GOAL in binary, the form that LogGOPSim and ATLAHS simulate: little endian, packed,
/// a table of ranks and behind it each rank's nodes with their successors. The layout is
/// in docs/formats.md.
#pragma once

#include "formats/GoalText.h"
#include "ir/TextForm.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace colldsl {

/// The first eight bytes of such a file: 4223. A simulator that works in the file itself
/// leaves 2342 there.
inline constexpr uint64_t kGoalMagic = 4223;
inline constexpr uint64_t kGoalUsedMagic = 2342;

/// The schedule at n == sizeClass.elements. printGoal() says how each op is translated, and which
/// are errors. Deterministic; successors ascend.
Result<std::vector<std::byte>> encodeGoal(const Schedule &schedule, GoalOptions options = {});

/// Reads a file of encodeGoal() or another tool. Every offset, index and count is
/// checked before it is used; ranks must lie one behind the other, and no list of
/// successors in another, so that memory grows with the file alone. An error names the
/// rank and the node. Of `limits` maxBytes, maxOps, maxRanks and allowWildcards
/// apply.
///
/// Nodes become ops in their order; one that depends on a later one moves behind it, and
/// no further. Messages of a tag are numbered as in GOAL text, in the order of the nodes.
/// The schedule is named for the file.
Result<Schedule> decodeGoal(std::span<const std::byte> bytes, std::string_view fileName,
                            TextLimits limits = {});

} // namespace colldsl
