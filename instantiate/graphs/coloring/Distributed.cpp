#include "instantiate/graphs/coloring/Distributed.h"

#include "instantiate/graphs/coloring/Rounds.h"

namespace colldsl {

uint32_t RankColoring::reply(uint32_t inEdge, const Query &query) {
  uint32_t color = firstFree(query.taken, takenByRecvs_);
  insert(takenByRecvs_, color);
  return inColor_[inEdge] = color;
}

void RankColoring::take(uint32_t outEdge, uint32_t color) {
  outColor_[outEdge] = color;
  insert(takenBySends_, color);
}

} // namespace colldsl
