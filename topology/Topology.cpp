#include "topology/Topology.h"

#include "ir/EpochTable.h"
#include "topology/Binding.h"
#include "topology/Spec.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace colldsl {

namespace {

constexpr std::array<std::string_view, kLevels.size()> kLevelNames = {"all", "node", "board",
                                                                      "socket", "numa"};

uint32_t groupAt(Level level, const Place &place) {
  switch (level) {
  case Level::All:
    return 0;
  case Level::Node:
    return place.node;
  case Level::Board:
    return place.board;
  case Level::Socket:
    return place.socket;
  case Level::Numa:
    return place.numa;
  }
  assert(false && "not a level");
  return 0;
}

/// Renumbers one id of all places to 0, 1, ... in its old order. Returns the number of ids.
uint32_t makeDense(std::vector<Place> &places, uint32_t Place::*id) {
  uint32_t largest = 0;
  for (const Place &place : places)
    largest = std::max(largest, place.*id);
  std::vector<uint32_t> dense(size_t{largest} + 1, 0);
  for (const Place &place : places)
    dense[place.*id] = 1;
  uint32_t count = std::accumulate(dense.begin(), dense.end(), uint32_t{0});
  std::exclusive_scan(dense.begin(), dense.end(), dense.begin(), uint32_t{0});
  for (Place &place : places)
    place.*id = dense[place.*id];
  return count;
}

/// The level among the nodes that have ranks, which the topology numbers anew: `old` and `places`
/// have the old and new numbers of each rank's node.
OuterLevel ofUsedNodes(const OuterLevel &level, std::span<const uint32_t> old,
                       std::span<const Place> places, uint32_t numNodes) {
  OuterLevel used{level.name, std::vector<uint32_t>(numNodes), {}};
  for (size_t r = 0; r < places.size(); ++r)
    used.groupOfNode[places[r].node] = level.groupOfNode[old[r]];
  std::vector<uint32_t> ids = used.groupOfNode;
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (uint32_t &group : used.groupOfNode)
    group = static_cast<uint32_t>(std::ranges::lower_bound(ids, group) - ids.begin());
  if (!level.groups.empty())
    for (uint32_t id : ids)
      used.groups.push_back(level.groups[id]);
  return used;
}

/// Makes ids that each node counts for itself unique: those of each node follow those of the nodes
/// before.
void makeUnique(std::vector<Place> &places, uint32_t Place::*id) {
  std::map<uint32_t, uint32_t> counts; // by node
  for (const Place &place : places)
    counts[place.node] = std::max(counts[place.node], place.*id + 1);
  uint32_t begin = 0;
  for (auto &[node, count] : counts)
    begin += std::exchange(count, begin);
  for (Place &place : places)
    place.*id += counts[place.node];
}

} // namespace

std::string_view spelling(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

std::optional<Level> parseLevel(std::string_view text) {
  for (Level level : kLevels)
    if (spelling(level) == text)
      return level;
  return std::nullopt;
}

Topology Topology::flat(uint32_t numRanks) {
  std::vector<Place> places(numRanks);
  for (uint32_t r = 0; r < numRanks; ++r)
    places[r].cache = places[r].core = r;
  return fromPlaces(std::move(places));
}

Topology Topology::fromPlaces(std::vector<Place> places, std::span<const OuterLevel> outer) {
  Topology topology;
  std::vector<uint32_t> oldNodes;
  if (!outer.empty())
    for (const Place &place : places)
      oldNodes.push_back(place.node);
  std::array<uint32_t, kLevels.size()> counts = {
      1, makeDense(places, &Place::node), makeDense(places, &Place::board),
      makeDense(places, &Place::socket), makeDense(places, &Place::numa)};
  for (const OuterLevel &level : outer)
    topology.outer_.push_back(
        ofUsedNodes(level, oldNodes, places, counts[static_cast<size_t>(Level::Node)]));
  for (Level level : kLevels) {
    // A counting sort of the ranks by group; it is stable, so members ascend.
    Groups &groups = topology.groups_[static_cast<size_t>(level)];
    groups.begin.assign(counts[static_cast<size_t>(level)] + 1, 0);
    for (const Place &place : places)
      ++groups.begin[groupAt(level, place) + 1];
    std::partial_sum(groups.begin.begin(), groups.begin.end(), groups.begin.begin());
    std::vector<uint32_t> next(groups.begin.begin(), groups.begin.end() - 1);
    groups.members.resize(places.size());
    for (uint32_t r = 0; r < places.size(); ++r)
      groups.members[next[groupAt(level, places[r])]++] = Rank{r};
  }
  topology.places_ = std::move(places);
  return topology;
}

Topology Topology::fromNodes(std::vector<Place> places) {
  for (auto id : {&Place::board, &Place::socket, &Place::numa, &Place::cache, &Place::core})
    makeUnique(places, id);
  return fromPlaces(std::move(places));
}

Result<Topology> Topology::onThisMachine(std::span<const uint32_t> pus) {
  Result<std::vector<Place>> known = discoverWholeNode();
  if (!known)
    return known.status();
  std::unordered_map<uint32_t, const Place *> byPu;
  for (const Place &place : *known)
    byPu[place.pu] = &place;
  std::vector<Place> places;
  for (size_t r = 0; r < pus.size(); ++r) {
    auto found = byPu.find(pus[r]);
    if (found == byPu.end())
      return Status::error("topology: rank " + std::to_string(r) + " runs on hardware thread " +
                           std::to_string(pus[r]) + ", which this machine does not have");
    places.push_back(*found->second);
  }
  return fromPlaces(std::move(places));
}

Result<Topology> Topology::make(std::string_view description, uint32_t numRanks) {
  Result<Spec> spec = parseSpec(description);
  if (!spec)
    return spec.status();
  return placeRanks(*spec, numRanks);
}

uint32_t Topology::numGroups(Level level) const {
  return static_cast<uint32_t>(groups_[static_cast<size_t>(level)].begin.size() - 1);
}

uint32_t Topology::groupOf(Level level, Rank rank) const { return groupAt(level, place(rank)); }

std::span<const Rank> Topology::members(Level level, uint32_t group) const {
  const Groups &groups = groups_[static_cast<size_t>(level)];
  return std::span(groups.members)
      .subspan(groups.begin[group], groups.begin[group + 1] - groups.begin[group]);
}

unsigned Topology::levelsCrossed(Rank a, Rank b) const {
  uint32_t na = place(a).node, nb = place(b).node;
  if (na == nb)
    return 0;
  unsigned crossed = 1;
  for (size_t level = outer_.size(); level > 0; --level, ++crossed)
    if (outer_[level - 1].groupOfNode[na] == outer_[level - 1].groupOfNode[nb])
      return crossed;
  return crossed;
}

unsigned Topology::distance(Rank a, Rank b) const {
  const Place &pa = place(a);
  const Place &pb = place(b);
  if (a == b)
    return 0;
  if (pa.node != pb.node)
    return pa.leafSwitch == pb.leafSwitch ? kOtherNode : kMaxDistance;
  if (pa.cache == pb.cache)
    return 1;
  if (pa.numa == pb.numa)
    return pa.socket == pb.socket ? 2 : 3;
  if (pa.socket == pb.socket)
    return 4;
  return pa.board == pb.board ? 5 : 6;
}

// Caches and switches have numbers of their own machine only, so they are numbered afresh.
uint64_t Topology::hash() const {
  std::map<uint32_t, uint64_t> caches, switches;
  auto numbered = [](std::map<uint32_t, uint64_t> &numbers, uint32_t id) {
    return numbers.try_emplace(id, numbers.size()).first->second;
  };
  uint64_t hash = places_.size();
  for (const Place &p : places_)
    for (uint64_t id : {uint64_t{p.node}, uint64_t{p.board}, uint64_t{p.socket}, uint64_t{p.numa},
                        numbered(caches, p.cache), numbered(switches, p.leafSwitch)})
      hash = mixHash(hash, id);
  return hash;
}

} // namespace colldsl
