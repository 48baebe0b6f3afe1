// Expressions that yield groups, or ask something of one.
#include "instantiate/Interpreter.h"

#include <algorithm>

namespace colldsl {

/// Whether a rank that leaders must include is one of the current group, or none.
bool Interpreter::checkInclude(const char *who, int64_t include, SourceLoc loc) {
  if (include != kNone && (include < 0 || include >= currentGroup().size))
    fail(loc, std::string(who) + " must include rank " + std::to_string(include) +
                  ", but there are only " + std::to_string(currentGroup().size) + " ranks");
  return !failed_;
}

int64_t Interpreter::evalLeader(const Expr &e) {
  int64_t include = evalOr(e.a, kNone);
  int64_t which = evalOr(e.b, 0);
  if (failed_ || !checkInclude("the leader", include, e.loc))
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
  const Topology &topology = groups_.topology();
  if (topology.groupOf(level, demanded) != topology.groupOf(level, current.self()))
    return current.find(members[which]);
  if (which == 0)
    return include;
  auto before = members.first(static_cast<size_t>(which)); // `demanded` comes before these
  bool isAmong = std::find(before.begin(), before.end(), demanded) != before.end();
  return current.find(isAmong ? members[which] : before.back());
}

/// GroupWhere: the ranks for which the condition holds. GroupSplit: those of this
/// rank's color; color `none` leaves a rank out.
int64_t Interpreter::filterGroup(const Expr &e, bool split) {
  const Group &current = currentGroup();
  std::vector<Rank> members;
  int64_t mine = 1;
  if (split) {
    intSlot(e.slot) = current.me;
    mine = eval(e.a);
  }
  for (uint32_t i = 0; i < current.size && !failed_ && step(e.loc); ++i) {
    intSlot(e.slot) = i;
    int64_t value = eval(e.a);
    if (split ? value == mine && mine != kNone : value != 0)
      members.push_back(current.world(i));
  }
  return groups_.add(std::move(members), current);
}

int64_t Interpreter::evalGroupOf(const Expr &e) {
  return groups_.ofLevel(static_cast<Level>(e.value), currentGroup());
}

int64_t Interpreter::evalGroupWhere(const Expr &e) { return filterGroup(e, false); }

int64_t Interpreter::evalGroupSplit(const Expr &e) { return filterGroup(e, true); }

int64_t Interpreter::evalGroupLeaders(const Expr &e) {
  int64_t include = evalOr(e.a, kNone);
  if (failed_ || !checkInclude("leaders", include, e.loc))
    return 0;
  return groups_.leaders(static_cast<Level>(e.value), include, currentGroup());
}

int64_t Interpreter::evalGroupSize(const Expr &e) {
  int64_t handle = eval(e.a);
  return failed_ ? 0 : groups_[handle].size;
}

int64_t Interpreter::evalGroupRank(const Expr &e) {
  int64_t handle = eval(e.a);
  return failed_ ? 0 : groups_[handle].me;
}

int64_t Interpreter::evalGroupContains(const Expr &e) {
  int64_t handle = eval(e.a), rank = eval(e.b);
  if (failed_)
    return 0;
  const Group &current = currentGroup();
  return rank >= 0 && rank < current.size &&
         groups_[handle].find(current.world(static_cast<uint32_t>(rank))) != kNone;
}

int64_t Interpreter::evalGroupMember(const Expr &e) {
  int64_t handle = eval(e.a), which = eval(e.b);
  if (failed_)
    return 0;
  const Group &of = groups_[handle];
  if (which < 0 || which >= of.size) {
    fail(e.loc, "member " + std::to_string(which) + " of a group of " + std::to_string(of.size));
    return 0;
  }
  return currentGroup().find(of.world(static_cast<uint32_t>(which)));
}

} // namespace colldsl
