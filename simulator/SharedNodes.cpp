#include "simulator/SharedNodes.h"

#include <algorithm>

namespace colldsl::sim {

SharedNodes::SharedNodes(const NodeCosts &costs, const Topology *topology, uint32_t numRanks)
    : costs_(costs), nodeOf_(numRanks), interfaceOf_(numRanks) {
  uint32_t nodes = topology ? topology->numGroups(Level::Node) : 1;
  std::vector<uint32_t> ranksOf(nodes);
  for (uint32_t rank = 0; rank < numRanks; ++rank) {
    uint32_t node = topology ? topology->place(Rank{rank}).node : 0;
    uint32_t turn = ranksOf[node]++;
    nodeOf_[rank] = node;
    interfaceOf_[rank] =
        costs.interfaces > 0 ? node * costs.interfaces + turn % costs.interfaces : 0;
  }
  interfaces_.resize(size_t{2} * nodes * costs.interfaces);
  memoryFree_.resize(nodes);
}

uint32_t SharedNodes::interfaceFor(uint32_t rank, uint32_t first, bool isLong) const {
  if (!isPerMessage())
    return first + interfaceOf_[rank];
  first += nodeOf_[rank] * costs_.interfaces;
  uint32_t best = first;
  for (uint32_t other = first + 1; other < first + costs_.interfaces; ++other)
    if (interfaces_[other].free[isShared(isLong)] < interfaces_[best].free[isShared(isLong)])
      best = other;
  return best;
}

uint64_t SharedNodes::pass(uint32_t interface, uint64_t at, uint64_t bytes) {
  uint64_t &free = interfaces_[interface].free[false];
  uint64_t begin = std::max(free, at);
  free = begin + costs_.g + costs_.G.times(bytes);
  return begin;
}

/// Each of n messages gets 1/n of the interface.
uint64_t SharedNodes::servedBy(const Interface &interface, uint64_t now) {
  uint64_t n = std::max<uint64_t>(1, interface.ends.size());
  UInt128 share = (UInt128{now - interface.servedAt} << kFractionBits) / n;
  return interface.served + static_cast<uint64_t>(share);
}

void SharedNodes::join(uint32_t at, uint64_t now, uint64_t bytes, uint32_t send) {
  Interface &interface = interfaces_[at];
  if (interface.ends.empty())
    interface.served = 0; // no message refers to it
  else
    interface.served = servedBy(interface, now);
  interface.servedAt = now;
  ++interface.joins;
  uint64_t work = costs_.g + costs_.G.times(bytes);
  interface.free[true] = std::max(interface.free[true], now) + work; // in whatever order
  interface.ends.emplace(interface.served + (work << kFractionBits), send);
}

std::optional<uint64_t> SharedNodes::nextThrough(uint32_t at) const {
  const Interface &interface = interfaces_[at];
  if (interface.ends.empty())
    return std::nullopt;
  uint64_t end = interface.ends.begin()->first; // rounding may have served it already
  UInt128 left = end - std::min(end, interface.served);
  UInt128 scaled = left * interface.ends.size();
  constexpr UInt128 one = UInt128{1} << kFractionBits;
  return interface.servedAt + static_cast<uint64_t>((scaled + one - 1) / one);
}

std::optional<uint32_t> SharedNodes::takeThrough(uint32_t at, uint64_t now) {
  Interface &interface = interfaces_[at];
  std::optional<uint64_t> done = nextThrough(at);
  if (!done || *done > now)
    return std::nullopt;
  auto first = interface.ends.begin();
  uint32_t send = first->second;
  interface.served = std::max(servedBy(interface, now), first->first);
  interface.servedAt = now;
  interface.ends.erase(first);
  return send;
}

uint64_t SharedNodes::copyUntil(uint32_t rank, uint64_t from, uint64_t workNs) {
  if (costs_.copiers == 0)
    return from + workNs;
  uint64_t &free = memoryFree_[nodeOf_[rank]];
  free = std::max(free, from) + workNs / costs_.copiers;
  return std::max(from + workNs, free);
}

} // namespace colldsl::sim
