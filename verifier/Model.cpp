#include "verifier/Model.h"

namespace colldsl::proof {

Model::Model(const Schedule &schedule, const std::vector<Sizes> &sizes)
    : schedule_(schedule), sizes_(sizes) {
  ranks_.reserve(schedule.numOps());
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    firsts_.push_back(numVertices());
    ranks_.insert(ranks_.end(), schedule.ranks[r].size(), Rank{r});
  }
  firsts_.push_back(numVertices());
}

} // namespace colldsl::proof
