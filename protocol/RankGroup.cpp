#include "protocol/RankGroup.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::protocol {

RankGroup RankGroup::ofAll(uint32_t numRanks, Rank self) {
  RankGroup group{kWorldContext, std::vector<Rank>(numRanks), self};
  for (uint32_t r = 0; r < numRanks; ++r)
    group.ranks[r] = Rank{r};
  return group;
}

Rank RankGroup::placeOf(Rank rank) const {
  auto at = std::find(ranks.begin(), ranks.end(), rank);
  return at == ranks.end() ? kNoRank : Rank{static_cast<uint32_t>(at - ranks.begin())};
}

Status RankGroup::check(const OpenRequest &request) const {
  for (std::span<const EdgeSpec> edges : {request.out, request.in})
    for (const EdgeSpec &edge : edges)
      if (index(edge.peer) >= ranks.size() || rankAt(edge.peer) == kNoRank)
        return Status::error(
            concat("there is no rank ", index(edge.peer), " among ", ranks.size()));
  return {};
}

} // namespace colldsl::protocol
