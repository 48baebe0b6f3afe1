// Dragonflies: J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable
// dragonfly topology", ISCA 2008.
//
// All switches of a group are linked, and each two groups by global links, which the switches of a
// group hold in turns. A message takes at most one local link, a global one, and a local one. Where
// the global links are busy, it may take the detour by a third group (L. G. Valiant, "A scheme for
// fast parallel communication", 1982), if it waits less than half as long for it, since a detour
// takes two global links. That is UGAL of the paper, with the queues of the whole group known.
//
// Example: dragonfly:1x2x4, whose switch 2g + ((d - 1) mod 2) links group g to the one d further
// on. A message from node 0 to node 4, of group 2: d = 2, so by switch 1 over its global link to
// switch 5, and by switch 4 to node 4.
//
// Places: the nodes; the switches; the switches again, for messages on a detour, which take no
// other one; the global links, for messages that have chosen one and are at the switch that holds
// it. Links: up from and down to each node, from each switch to the others of its group, and the
// global ones, by group, distance in groups and number.
#include "simulator/Network.h"

#include <algorithm>

namespace colldsl::sim {

void Network::layOutDragonfly() {
  switchNodes_ = options_.dims[0];
  groupSwitches_ = options_.dims[1];
  groups_ = options_.dims[2];
  switches_ = groupSwitches_ * groups_;
  globalBegin_ = 2 * nodes_ + switches_ * (groupSwitches_ - 1);
  freeAt_.resize(options_.numLinks());
  turns_.resize(groups_);
}

uint32_t Network::positionOf(uint32_t place) const {
  if (place < nodes_ + switches_ || switches_ == 0)
    return place;
  uint64_t further = place - nodes_ - switches_;
  uint64_t of = further < switches_ ? further : holderOf(further - switches_);
  return static_cast<uint32_t>(nodes_ + of);
}

uint64_t Network::localLink(uint64_t from, uint64_t to) const {
  uint64_t others = to % groupSwitches_ - (to > from);
  return 2 * nodes_ + from * (groupSwitches_ - 1) + others;
}

/// The switch that holds the end at which messages enter a global link.
uint64_t Network::holderOf(uint64_t global) const {
  uint64_t ofGroup = (groups_ - 1) * options_.globalLinks;
  return global / ofGroup * groupSwitches_ + global % ofGroup % groupSwitches_;
}

/// At the other end is the holder of the link of the same number in the other direction.
Network::Link Network::acrossGlobal(uint64_t global, uint64_t toGroup) const {
  uint64_t parallel = options_.globalLinks, number = global % parallel;
  uint64_t group = global / parallel / (groups_ - 1);
  uint64_t groupsOn = global / parallel % (groups_ - 1) + 1;
  uint64_t other = (group + groupsOn) % groups_;
  uint64_t back = (other * (groups_ - 1) + groups_ - groupsOn - 1) * parallel + number;
  uint64_t next = nodes_ + holderOf(back) + (other == toGroup ? 0 : switches_);
  return {static_cast<uint32_t>(next), globalBegin_ + global};
}

Network::Exit Network::exitOver(uint64_t from, uint64_t global, uint64_t now) const {
  uint64_t holder = holderOf(global), soonest = now, at = now;
  if (holder != from) {
    soonest += options_.hopNs;
    at = std::max(now, freeAt_[localLink(from, holder)]) + options_.hopNs;
  }
  at = std::max(at, freeAt_[globalBegin_ + global]);
  return {global, at, at - soonest};
}

/// The way out that enters its global link first, to the group so many further on. Of several, and
/// in a network that is not adaptive, the destination's number chooses.
Network::Exit Network::bestExit(uint64_t from, uint64_t groupsOn, uint32_t to, uint64_t now) const {
  uint64_t parallel = options_.globalLinks, usual = to % parallel;
  uint64_t first = (from / groupSwitches_ * (groups_ - 1) + groupsOn - 1) * parallel;
  Exit best = exitOver(from, first + usual, now);
  for (uint64_t i = 1; options_.isAdaptive && i < parallel && best.beginNs > now; ++i) {
    Exit other = exitOver(from, first + (usual + i) % parallel, now);
    if (other.beginNs < best.beginNs)
      best = other;
  }
  return best;
}

/// The global link that a message takes at a switch of another group than its destination's.
uint64_t Network::globalFrom(uint64_t from, uint32_t to, bool mayDetour, uint64_t now) {
  uint64_t group = from / groupSwitches_;
  uint64_t groupsOn = (groupOf(to) + groups_ - group) % groups_;
  Exit direct = bestExit(from, groupsOn, to, now);
  constexpr uint64_t kLeastGroups = 3;
  if (!mayDetour || direct.waitNs == 0 || groups_ < kLeastGroups)
    return direct.global;
  uint64_t byGroup = turns_[group]++ % (groups_ - 2) + 1;
  Exit detour = bestExit(from, byGroup + (byGroup >= groupsOn), to, now);
  return 2 * detour.waitNs < direct.waitNs ? detour.global : direct.global;
}

Network::Link Network::dragonflyLink(uint32_t at, uint32_t to, uint64_t now) {
  if (at < nodes_)
    return {static_cast<uint32_t>(nodes_ + at / switchNodes_), at};
  uint64_t place = at - nodes_, chosen = 2 * switches_;
  if (place >= chosen)
    return acrossGlobal(place - chosen, groupOf(to));
  bool isDetour = place >= switches_;
  uint64_t from = isDetour ? place - switches_ : place, last = to / switchNodes_;
  if (from == last)
    return {to, nodes_ + to};
  if (from / groupSwitches_ == groupOf(to))
    return {static_cast<uint32_t>(nodes_ + last), localLink(from, last)};
  uint64_t global = globalFrom(from, to, options_.isAdaptive && !isDetour, now);
  uint64_t holder = holderOf(global);
  if (holder == from)
    return acrossGlobal(global, groupOf(to));
  return {static_cast<uint32_t>(nodes_ + chosen + global), localLink(from, holder)};
}

} // namespace colldsl::sim
