#include "verifier/Model.h"

#include <algorithm>

namespace colldsl::proof {

Model::Model(const Schedule &schedule, const std::vector<Sizes> &sizes, const BlockLengths *lengths)
    : schedule_(schedule), sizes_(sizes), lengths_(lengths) {
  ranks_.reserve(schedule.numOps());
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    firsts_.push_back(numVertices());
    uint32_t size = schedule.ranks[r].size();
    std::fill_n(ranks_.grow(size), size, Rank{r});
  }
  firsts_.push_back(numVertices());
}

} // namespace colldsl::proof
