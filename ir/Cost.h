/// Costs that a collective may bound by `ensures`: enums and their spellings, expanded from
/// Costs.def.
#pragma once

#include "ir/Ids.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace colldsl {

enum class Cost : uint8_t {
#define COLLDSL_COST(Name, spelling, unit, summary) Name,
#include "ir/Costs.def"
};
inline constexpr unsigned kCosts = static_cast<unsigned>(Cost::Received) + 1;

std::string_view spelling(Cost cost);
/// The unit that the cost counts, in the singular.
std::string_view unit(Cost cost);
std::optional<Cost> parseCost(std::string_view text);

/// A rank's bound on one of its costs, at the size that the schedule was made at.
struct CostBound {
  Rank rank = kNoRank;
  Cost cost = Cost::Rounds;
  int64_t most = 0; ///< in unit(cost)
  SourceLoc loc;
};

} // namespace colldsl
