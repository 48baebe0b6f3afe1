#include "passes/PhysicalOrder.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace colldsl {
namespace {

/// Disjoint sets of ranks that are united step by step.
class Union {
public:
  explicit Union(uint32_t size) : of_(size) { std::iota(of_.begin(), of_.end(), 0u); }
  uint32_t find(uint32_t i) {
    while (of_[i] != i)
      i = of_[i] = of_[of_[i]];
    return i;
  }
  void join(uint32_t a, uint32_t b) {
    of_[std::max(find(a), find(b))] = std::min(find(a), find(b));
  }

private:
  std::vector<uint32_t> of_;
};

using GroupKey = std::tuple<uint32_t, uint32_t, uint32_t>;

/// The key that ranks of one group share at a distance class, beyond the classes below.
GroupKey keyAt(unsigned distance, const Place &place) {
  switch (distance) {
  case 1:
    return {place.node, place.cache, 0};
  case 2:
    return {place.node, place.socket, place.numa};
  case 3:
    return {place.node, place.numa, 0};
  case 4:
    return {place.node, place.socket, 0};
  case 5:
    return {place.node, place.board, 0};
  case 6:
    return {place.node, 0, 0};
  case kOtherNode:
    return {place.leafSwitch, 0, 0};
  default:
    return {0, 0, 0};
  }
}

/// group[d][i]: the index in `order` of the first rank of the group, at class d, of the i-th rank.
std::vector<std::vector<uint32_t>> groupsOf(const Topology &topology,
                                            const std::vector<Rank> &order) {
  auto size = static_cast<uint32_t>(order.size());
  Union groups(size);
  std::vector<std::vector<uint32_t>> group(kMaxDistance + 1, std::vector<uint32_t>(size));
  std::iota(group[0].begin(), group[0].end(), 0u);
  std::vector<uint32_t> sorted(size);
  for (unsigned d = 1; d <= kMaxDistance; ++d) {
    auto key = [&](uint32_t i) { return keyAt(d, topology.place(order[i])); };
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (uint32_t i = 1; i < size; ++i)
      if (key(sorted[i]) == key(sorted[i - 1]))
        groups.join(sorted[i], sorted[i - 1]);
    for (uint32_t i = 0; i < size; ++i)
      group[d][i] = groups.find(i);
  }
  return group;
}

} // namespace

PhysicalOrder physicalOrder(const Topology &topology) {
  std::vector<Rank> byCore(topology.numRanks());
  for (uint32_t r = 0; r < byCore.size(); ++r)
    byCore[r] = Rank{r};
  std::sort(byCore.begin(), byCore.end(), [&](Rank a, Rank b) {
    const Place &x = topology.place(a), &y = topology.place(b);
    return std::tuple(x.node, x.core, x.pu, a) < std::tuple(y.node, y.core, y.pu, b);
  });
  std::vector<std::vector<uint32_t>> group = groupsOf(topology, byCore);
  std::vector<uint32_t> places(byCore.size());
  std::iota(places.begin(), places.end(), 0u);
  std::sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
    for (unsigned d = kMaxDistance; d > 0; --d)
      if (group[d][a] != group[d][b])
        return group[d][a] < group[d][b];
    return a < b;
  });
  PhysicalOrder order;
  for (size_t i = 0; i < places.size(); ++i) {
    order.ranks.push_back(byCore[places[i]]);
    unsigned step = i == 0 ? kMaxDistance + 1 : 1;
    while (i > 0 && group[step][places[i]] != group[step][places[i - 1]])
      ++step;
    order.step.push_back(static_cast<uint8_t>(step));
  }
  return order;
}

std::string histogramText(const std::vector<uint32_t> &counts) {
  std::string text;
  for (size_t d = 1; d < counts.size(); ++d)
    if (counts[d] != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(counts[d]) +
              (text.empty() ? " edges of distance " : " of ") + std::to_string(d);
  return text.empty() ? "no edges" : text;
}

} // namespace colldsl
