#include "passes/DistanceRing.h"

#include "passes/TuningParameters.h"

#include <algorithm>

namespace colldsl {

Result<BindOutcome> bindDistanceRing(const BindContext &context, const DistanceRing &) {
  Topology flat = Topology::flat(context.request.ranks);
  const Topology &topology = context.request.topology ? *context.request.topology : flat;
  return bindTrees(context, [&](Rank root) {
    std::vector<Rank> order = physicalOrder(topology).ranks;
    std::rotate(order.begin(), std::find(order.begin(), order.end(), root), order.end());
    GivenTree chain(context.request.ranks);
    chain.root = root;
    std::vector<uint32_t> counts(kMaxDistance + 1, 0);
    for (size_t i = 0; i < order.size(); ++i) {
      Rank next = order[(i + 1) % order.size()];
      ++counts[topology.distance(order[i], next)];
      if (i + 1 < order.size())
        chain.connect(order[i], next);
    }
    return TreeBinding{std::move(chain), histogramText(counts)};
  });
}

} // namespace colldsl
