#include "passes/DistanceTree.h"

#include "passes/TuningParameters.h"

#include <algorithm>
#include <bit>

namespace colldsl {

void DistanceTree::describe(PassOptions &options) {
  options.choice("shape", "flat|binomial",
                 "how the leaders of a level learn: flat from the first one, or each from one that "
                 "knows (default: binomial)",
                 shape, {"flat", "binomial"});
}

namespace {

class TreeBuilder {
public:
  TreeBuilder(PhysicalOrder order, Rank root, DistanceTree::Shape shape)
      : order_(std::move(order)), shape_(shape), tree_(static_cast<uint32_t>(order_.ranks.size())) {
    tree_.root = root;
    rootAt_ = static_cast<size_t>(std::find(order_.ranks.begin(), order_.ranks.end(), root) -
                                  order_.ranks.begin());
  }

  GivenTree build() {
    connect(0, order_.ranks.size(), kMaxDistance);
    return std::move(tree_);
  }

private:
  /// The places [begin, end) are one group of that distance class.
  void connect(size_t begin, size_t end, unsigned distance) {
    if (distance == 0)
      return;
    std::vector<std::pair<size_t, size_t>> parts;
    for (size_t i = begin, last; i < end; i = last) {
      for (last = i + 1; last < end && order_.step[last] < distance; ++last)
        ;
      parts.emplace_back(i, last);
    }
    std::vector<Rank> leaders;
    for (auto [first, last] : parts) {
      bool hasRoot = first <= rootAt_ && rootAt_ < last;
      leaders.push_back(order_.ranks[hasRoot ? rootAt_ : first]);
      if (hasRoot)
        std::swap(leaders.front(), leaders.back());
    }
    connectLeaders(leaders);
    for (auto [first, last] : parts)
      connect(first, last, distance - 1);
  }

  void connectLeaders(const std::vector<Rank> &leaders) {
    if (shape_ == DistanceTree::Shape::Flat) {
      for (size_t i = 1; i < leaders.size(); ++i)
        tree_.connect(leaders[0], leaders[i]);
      return;
    }
    for (size_t span = std::bit_ceil(leaders.size()); span > 1; span /= 2)
      for (size_t i = 0; i + span / 2 < leaders.size(); i += span)
        tree_.connect(leaders[i], leaders[i + span / 2]);
  }

  PhysicalOrder order_;
  DistanceTree::Shape shape_;
  GivenTree tree_;
  size_t rootAt_ = 0;
};

} // namespace

GivenTree distanceTree(const Topology &topology, Rank root, DistanceTree::Shape shape) {
  return TreeBuilder(physicalOrder(topology), root, shape).build();
}

Result<BindOutcome> bindDistanceTree(const BindContext &context, const DistanceTree &options) {
  Topology flat = Topology::flat(context.request.ranks);
  const Topology &topology = context.request.topology ? *context.request.topology : flat;
  return bindTrees(context, [&](Rank root) {
    GivenTree tree = distanceTree(topology, root, options.shape);
    std::vector<uint32_t> counts(kMaxDistance + 1, 0);
    for (uint32_t r = 0; r < tree.parent.size(); ++r)
      if (tree.parent[r] != kNoRank)
        ++counts[topology.distance(Rank{r}, tree.parent[r])];
    return TreeBinding{std::move(tree), histogramText(counts)};
  });
}

} // namespace colldsl
