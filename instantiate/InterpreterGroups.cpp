// Expressions that yield groups, or ask something of one.
#include "instantiate/Interpreter.h"

#include <algorithm>

namespace colldsl {

/// True if `include` is kNone or a rank of the current group, as a rank that leaders must include;
/// fails otherwise.
bool Interpreter::checkInclude(const char *who, int64_t include, SourceLoc loc) {
  if (include != kNone && (include < 0 || include >= currentGroup().size))
    failBeyond(loc, std::string(who) + " must include rank", include);
  return !failed_;
}

int64_t Interpreter::evalLeader(const Expr &e, int64_t include, int64_t which) {
  if (!checkInclude("the leader", include, e.loc))
    return kNone;
  const Group &current = currentGroup();
  auto level = static_cast<Level>(e.value);
  std::vector<Rank> room;
  std::span<const Rank> members = groups_.byLead(level, current, room);
  if (which < 0 || which >= static_cast<int64_t>(members.size()))
    return kNone;
  if (include == kNone)
    return current.find(members[which]);
  Rank demanded = current.world(static_cast<uint32_t>(include));
  const Topology &topology = groups_.topology(level);
  if (topology.groupOf(level, demanded) != topology.groupOf(level, current.self()))
    return current.find(members[which]);
  if (which == 0)
    return include;
  auto before = members.first(static_cast<size_t>(which)); // `demanded` comes before these
  bool isAmong = std::find(before.begin(), before.end(), demanded) != before.end();
  return current.find(isAmong ? members[which] : before.back());
}

/// The group of the ranks for which the condition holds.
int64_t Interpreter::groupWhere(int64_t conditions) {
  for (int64_t &holds : list(conditions))
    holds = holds != 0;
  return groupOf(conditions, 1);
}

/// The group of the ranks with this rank's color; color `none` leaves a rank out.
int64_t Interpreter::groupSplit(int64_t colors) {
  int64_t mine = list(colors)[static_cast<size_t>(currentGroup().me)];
  if (mine == kNone)
    list(colors).clear();
  return groupOf(colors, mine);
}

/// The group of the ranks that have the value `wanted` in a list, which it leaves empty.
int64_t Interpreter::groupOf(int64_t values, int64_t wanted) {
  const Group &current = currentGroup();
  std::vector<int64_t> ofRanks = std::move(list(values));
  std::vector<Rank> members;
  for (uint32_t i = 0; i < ofRanks.size(); ++i)
    if (ofRanks[i] == wanted)
      members.push_back(current.world(i));
  return groups_.add(std::move(members), current);
}

int64_t Interpreter::evalGroupOf(const Expr &e, int64_t, int64_t) {
  return groups_.ofLevel(static_cast<Level>(e.value), currentGroup());
}

int64_t Interpreter::evalGroupLeaders(const Expr &e, int64_t include, int64_t which) {
  if (which < 0)
    fail(e.loc, "leaders with index " + std::to_string(which));
  if (!checkInclude("leaders", include, e.loc))
    return 0;
  return groups_.leaders(static_cast<Level>(e.value), include, which, currentGroup());
}

int64_t Interpreter::evalGroupSize(const Expr &, int64_t group, int64_t) {
  return groups_[group].size;
}

int64_t Interpreter::evalGroupRank(const Expr &, int64_t group, int64_t) {
  return groups_[group].me;
}

int64_t Interpreter::evalGroupContains(const Expr &, int64_t group, int64_t rank) {
  const Group &current = currentGroup();
  return rank >= 0 && rank < current.size &&
         groups_[group].find(current.world(static_cast<uint32_t>(rank))) != kNone;
}

int64_t Interpreter::evalGroupMember(const Expr &e, int64_t group, int64_t which) {
  const Group &of = groups_[group];
  if (which < 0 || which >= of.size) {
    fail(e.loc, "member " + std::to_string(which) + " of a group of " + std::to_string(of.size));
    return 0;
  }
  return currentGroup().find(of.world(static_cast<uint32_t>(which)));
}

} // namespace colldsl
