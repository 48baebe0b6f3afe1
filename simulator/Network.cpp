#include "simulator/Network.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace colldsl::sim {

using Kind = NetworkOptions::Kind;

Network::Network(const NetworkOptions &options, bool isRecorded)
    : options_(options), nodes_(options.numNodes()), globalG_(options.slowestG()) {
  if (options.kind == Kind::Torus) {
    uint64_t below = 1;
    for (uint32_t dim : options.dims) {
      stride_.push_back(below);
      below *= dim;
    }
    freeAt_.resize(options.numLinks());
  } else if (options.kind == Kind::FatTree) {
    layOutTree();
  }
  globalBegin_ = freeAt_.size();
  if (options.kind == Kind::Dragonfly)
    layOutDragonfly();
  loads_.resize(isRecorded ? freeAt_.size() : 0);
}

/// Level l of a fat tree: nodes / stride_[l] subtrees with ways_[l] links up and as many down.
void Network::layOutTree() {
  constexpr uint64_t kThinnest = uint64_t{1} << 32; // a subtree has fewer nodes
  uint64_t below = 1, positions = 0, links = 0, thinner = 1;
  for (size_t level = 0; level <= options_.dims.size(); ++level) {
    stride_.push_back(below);
    ways_.push_back(std::max<uint64_t>(1, below / thinner));
    positionBegin_.push_back(positions);
    linkBegin_.push_back(links);
    positions += nodes_ / below;
    links += nodes_ / below * ways_.back();
    if (level < options_.dims.size())
      below *= options_.dims[level];
    thinner = std::min(thinner * options_.taper, kThinnest);
  }
  freeAt_.resize(2 * links);
}

Network::Link Network::torusLink(uint32_t at, uint32_t to) const {
  for (size_t d = 0; d < options_.dims.size(); ++d) {
    uint64_t size = options_.dims[d];
    uint64_t from = at / stride_[d] % size, want = to / stride_[d] % size;
    if (from == want)
      continue;
    bool isUp = (want + size - from) % size <= size / 2;
    uint64_t next = isUp ? (from + 1) % size : (from + size - 1) % size;
    return {static_cast<uint32_t>(at - from * stride_[d] + next * stride_[d]),
            (uint64_t{at} * options_.dims.size() + d) * 2 + isUp};
  }
  return {at, 0};
}

/// The next link leads up until the destination lies below, then down. Among parallel links it is
/// the destination's number modulo theirs, so that each destination has one path; on the way up of
/// an adaptive tree it is the one that is free first.
Network::Link Network::treeLink(uint32_t at, uint32_t to, uint64_t now) const {
  size_t level = 0;
  while (level + 1 < positionBegin_.size() && at >= positionBegin_[level + 1])
    ++level;
  uint64_t subtree = at - positionBegin_[level];
  bool isUp = to / stride_[level] != subtree;
  size_t lower = isUp ? level : level - 1; // of the link's ends
  uint64_t child = isUp ? subtree : to / stride_[lower];
  uint64_t first = 2 * (linkBegin_[lower] + child * ways_[lower]) + isUp;
  uint64_t way = to % ways_[lower];
  if (isUp && options_.isAdaptive)
    way = freeFirst(first, ways_[lower], 2, way, now);
  uint64_t next = isUp ? positionBegin_[level + 1] + subtree / options_.dims[level]
                       : positionBegin_[lower] + child;
  return {static_cast<uint32_t>(next), first + 2 * way};
}

uint64_t Network::freeFirst(uint64_t first, uint64_t count, uint64_t step, uint64_t usual,
                            uint64_t now) const {
  uint64_t best = usual, bestAt = freeAt_[first + usual * step];
  for (uint64_t i = 1, way = usual; i < count && bestAt > now; ++i) {
    way = way + 1 < count ? way + 1 : 0;
    uint64_t at = freeAt_[first + way * step];
    if (at < bestAt) {
      best = way;
      bestAt = at;
    }
  }
  return best;
}

Network::Step Network::forward(uint32_t at, uint32_t to, uint64_t now, uint64_t bytes) {
  Link link = options_.kind == Kind::Torus     ? torusLink(at, to)
              : options_.kind == Kind::FatTree ? treeLink(at, to, now)
                                               : dragonflyLink(at, to, now);
  uint64_t begin = std::max(now, freeAt_[link.index]);
  uint64_t takes = (link.index < globalBegin_ ? options_.G : globalG_).times(bytes);
  freeAt_[link.index] = begin + takes;
  if (!loads_.empty()) {
    LinkLoad &load = loads_[link.index];
    load = {positionOf(at), positionOf(link.next), load.messages + 1, load.bytes + bytes,
            load.busyNs + takes};
  }
  return {link.next, begin + options_.hopNs};
}

PerByte Network::slowestG(uint32_t from, uint32_t to) const {
  bool isGlobal = options_.kind == Kind::Dragonfly && groupOf(from) != groupOf(to);
  return isGlobal ? globalG_ : options_.G;
}

std::vector<LinkLoad> Network::loads() const {
  std::vector<LinkLoad> used;
  std::copy_if(loads_.begin(), loads_.end(), std::back_inserter(used),
               [](const LinkLoad &load) { return load.messages > 0; });
  std::sort(used.begin(), used.end(), [](const LinkLoad &a, const LinkLoad &b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return used;
}

} // namespace colldsl::sim
