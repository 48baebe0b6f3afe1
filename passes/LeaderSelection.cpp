#include "passes/LeaderSelection.h"

#include "passes/PhysicalOrder.h"

#include <algorithm>

namespace colldsl {

void LeaderSelection::describe(PassOptions &options) {
  options.choice(
      "by", "core|nic|load",
      "which ranks lead: the first core, the core next to a network interface, or the rank with "
      "the least load (default: core)",
      by, {"core", "nic", "load"});
  options.numbers("nic", "NUMAxNUMA...",
                  "NUMA nodes with a network interface, counted within each node (default: 0)",
                  nic);
  options.numbers("load", "NUMBERxNUMBER...",
                  "load of each rank; of those without a number, how many ranks share its core",
                  load);
}

namespace {

/// The distance of a rank from the nearest network interface: 0 in its NUMA node, 1 on its socket,
/// 2 on its board, 3 elsewhere in the node.
class NicDistance {
public:
  NicDistance(const Topology &topology, const std::vector<uint32_t> &nics) : topology_(topology) {
    near_.resize(topology.numGroups(Level::Node));
    for (uint32_t r = 0; r < topology.numRanks(); ++r) {
      const Place &place = topology.place(Rank{r});
      auto isSame = [&](Rank other) { return topology.place(other).numa == place.numa; };
      std::vector<Rank> &near = near_[place.node]; // one of each NUMA node will do
      if (std::find(nics.begin(), nics.end(), place.numaOfNode) != nics.end() &&
          std::none_of(near.begin(), near.end(), isSame))
        near.push_back(Rank{r});
    }
  }

  uint32_t operator()(Rank rank) const {
    const Place &place = topology_.place(rank);
    uint32_t nearest = 3;
    for (Rank beside : near_[place.node]) {
      const Place &there = topology_.place(beside);
      nearest = std::min(nearest, there.numa == place.numa       ? 0u
                                  : there.socket == place.socket ? 1u
                                  : there.board == place.board   ? 2u
                                                                 : 3u);
    }
    return nearest;
  }

private:
  const Topology &topology_;
  std::vector<std::vector<Rank>> near_; ///< per node, the ranks that sit beside an interface
};

std::vector<uint32_t> loadsOf(const Topology &topology, const std::vector<uint32_t> &given) {
  std::vector<std::pair<uint32_t, uint32_t>> cores;
  for (uint32_t r = 0; r < topology.numRanks(); ++r)
    cores.emplace_back(topology.place(Rank{r}).node, topology.place(Rank{r}).core);
  std::vector<std::pair<uint32_t, uint32_t>> sorted = cores;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> loads;
  for (uint32_t r = 0; r < cores.size(); ++r) {
    auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), cores[r]);
    loads.push_back(r < given.size() ? given[r] : static_cast<uint32_t>(last - first));
  }
  return loads;
}

} // namespace

LeaderOrder orderLeaders(const Topology &topology, const LeaderSelection &options) {
  std::vector<Rank> order = physicalOrder(topology).ranks;
  std::vector<uint32_t> key(topology.numRanks(), 0);
  if (options.by == LeaderSelection::By::Load)
    key = loadsOf(topology, options.load);
  if (options.by == LeaderSelection::By::Nic) {
    NicDistance distance(topology, options.nic);
    for (uint32_t r = 0; r < key.size(); ++r)
      key[r] = distance(Rank{r});
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Rank a, Rank b) { return key[index(a)] < key[index(b)]; });
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    place[index(order[i])] = i;
  LeaderOrder leaders;
  leaders.places.fill(place);
  return leaders;
}

Result<BindOutcome> selectLeaders(const BindContext &context, const LeaderSelection &options) {
  Topology flat = Topology::flat(context.request.ranks);
  const Topology &topology = context.request.topology ? *context.request.topology : flat;
  BindOutcome outcome;
  if (options.load.size() > topology.numRanks())
    return Status::error("load: " + std::to_string(options.load.size()) + " numbers for " +
                         std::to_string(topology.numRanks()) + " ranks");
  auto leaders = std::make_shared<LeaderOrder>(orderLeaders(topology, options));
  constexpr uint32_t kShown = 16;
  outcome.remark = "leaders of nodes:";
  for (uint32_t g = 0; g < topology.numGroups(Level::Node); ++g) {
    auto members = topology.members(Level::Node, g);
    auto first = std::min_element(members.begin(), members.end(), [&](Rank a, Rank b) {
      return leaders->place(Level::Node, a) < leaders->place(Level::Node, b);
    });
    if (g < kShown)
      outcome.remark += " " + std::to_string(index(*first));
  }
  outcome.leaders = std::move(leaders);
  return outcome;
}

} // namespace colldsl
