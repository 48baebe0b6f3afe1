// Groups of ranks: by level of the machine, by condition, by color, of leaders.
#include "instantiate/Interpreter.h"
#include "ir/Index32.h"

#include <algorithm>

namespace colldsl {

int64_t Group::find(Rank rank) const {
  if (!members)
    return index(rank) < size ? static_cast<int64_t>(index(rank)) : kNone;
  auto it = std::lower_bound(members, members + size, rank);
  return it != members + size && *it == rank ? it - members : kNone;
}

bool Group::sameMembers(const Group &other) const {
  if (size != other.size)
    return false;
  if (members == other.members)
    return true;
  for (uint32_t i = 0; i < size; ++i)
    if (world(i) != other.world(i))
      return false;
  return true;
}

const Topology &Interpreter::topology() {
  if (request_.topology)
    return *request_.topology;
  if (!flat_)
    flat_ = Topology::flat(request_.ranks);
  return *flat_;
}

/// The rank that asks, in the whole job: this one, or the one that a tree or graph is
/// worked out for.
Rank Interpreter::asker() const {
  return currentGroup().world(static_cast<uint32_t>(currentGroup().me));
}

Group Interpreter::withMe(Group group) const {
  group.me = group.find(asker());
  return group;
}

int64_t Interpreter::addGroup(const Group &group) {
  groupPool_.push_back(group);
  groups_.push_back(&groupPool_.back());
  return static_cast<int64_t>(groups_.size() - 1);
}

int64_t Interpreter::addGroup(std::vector<Rank> members) {
  groupMembers_.push_back(std::move(members));
  const std::vector<Rank> &kept = groupMembers_.back();
  return addGroup(withMe({kept.data(), index32(kept.size()), kNone}));
}

/// The members of the current group that share `of`'s group of that level.
std::vector<Rank> Interpreter::levelMembers(Level level, Rank of) {
  std::vector<Rank> result;
  const Group &current = currentGroup();
  auto all = topology().membersWith(level, of);
  if (all.size() <= current.size) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [&](Rank r) { return current.find(r) != kNone; });
    return result;
  }
  uint32_t group = topology().groupOf(level, of);
  for (uint32_t i = 0; i < current.size; ++i)
    if (topology().groupOf(level, current.world(i)) == group)
      result.push_back(current.world(i));
  return result;
}

int64_t Interpreter::levelGroup(Level level) {
  if (level == Level::All)
    return addGroup(currentGroup());
  if (currentGroup().members == nullptr) {
    auto members = topology().membersWith(level, asker());
    return addGroup(withMe({members.data(), index32(members.size()), kNone}));
  }
  return addGroup(levelMembers(level, asker()));
}

/// Whether a leads their group of the level rather than b.
bool Interpreter::leadsBefore(Level level, Rank a, Rank b) const {
  const LeaderOrder *order = request_.leaders;
  return order ? std::pair(order->place(level, a), a) < std::pair(order->place(level, b), b)
               : a < b;
}

/// One rank of each group of the level: `include` of its own, the one that leads of the others.
/// For the whole job they are the same on all ranks, and are found once.
int64_t Interpreter::leadersGroup(Level level, int64_t include, SourceLoc loc) {
  const Group &current = currentGroup();
  if (include != kNone && (include < 0 || include >= current.size)) {
    fail(loc, "leaders must include rank " + std::to_string(include) + ", but there are only " +
                  std::to_string(current.size) + " ranks");
    return 0;
  }
  if (current.members)
    return addGroup(leadersOf(level, include));
  constexpr size_t kMostKept = size_t{1} << 22;
  auto kept = keptLeaders_.find({level, include});
  if (kept == keptLeaders_.end()) {
    std::vector<Rank> leaders = leadersOf(level, include);
    if (keptRanks_ + leaders.size() > kMostKept)
      return addGroup(std::move(leaders));
    keptRanks_ += leaders.size();
    kept = keptLeaders_.emplace(std::pair(level, include), std::move(leaders)).first;
  }
  const std::vector<Rank> &leaders = kept->second;
  return addGroup(withMe({leaders.data(), index32(leaders.size()), kNone}));
}

std::vector<Rank> Interpreter::leadersOf(Level level, int64_t include) {
  const Group &current = currentGroup();
  constexpr Rank kUnset = kNoRank;
  std::vector<Rank> leaderOf(topology().numGroups(level), kUnset);
  for (uint32_t i = 0; i < current.size; ++i) {
    Rank &leader = leaderOf[topology().groupOf(level, current.world(i))];
    if (leader == kUnset || leadsBefore(level, current.world(i), leader))
      leader = current.world(i);
  }
  if (include != kNone) {
    Rank demanded = current.world(static_cast<uint32_t>(include));
    leaderOf[topology().groupOf(level, demanded)] = demanded;
  }
  std::erase(leaderOf, kUnset);
  std::sort(leaderOf.begin(), leaderOf.end());
  return leaderOf;
}

/// The members of the current group that share the asker's group of that level, those that lead
/// first.
std::span<const Rank> Interpreter::membersByLead(Level level, std::vector<Rank> &room) {
  bool isWholeJob = !currentGroup().members;
  if (isWholeJob && !request_.leaders)
    return topology().membersWith(level, asker());
  auto sort = [&](std::vector<Rank> members) {
    std::sort(members.begin(), members.end(),
              [&](Rank a, Rank b) { return leadsBefore(level, a, b); });
    return members;
  };
  if (!isWholeJob)
    return room = sort(levelMembers(level, asker()));
  auto [kept, isNew] = keptByLead_.try_emplace({level, topology().groupOf(level, asker())});
  if (isNew)
    kept->second = sort(levelMembers(level, asker()));
  return kept->second;
}

int64_t Interpreter::evalLeader(const Expr &e) {
  int64_t include = evalOr(e.a, kNone);
  int64_t which = evalOr(e.b, 0);
  if (failed_)
    return kNone;
  const Group &current = currentGroup();
  if (include != kNone && (include < 0 || include >= current.size)) {
    fail(e.loc, "the leader must include rank " + std::to_string(include) +
                    ", but there are only " + std::to_string(current.size) + " ranks");
    return kNone;
  }
  auto level = static_cast<Level>(e.value);
  std::vector<Rank> room;
  std::span<const Rank> members = membersByLead(level, room);
  if (which < 0 || which >= static_cast<int64_t>(members.size()))
    return kNone;
  if (include == kNone)
    return current.find(members[which]);
  Rank demanded = current.world(static_cast<uint32_t>(include));
  if (topology().groupOf(level, demanded) != topology().groupOf(level, asker()))
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
  return addGroup(std::move(members));
}

int64_t Interpreter::evalGroupOf(const Expr &e) { return levelGroup(static_cast<Level>(e.value)); }

int64_t Interpreter::evalGroupWhere(const Expr &e) { return filterGroup(e, false); }

int64_t Interpreter::evalGroupSplit(const Expr &e) { return filterGroup(e, true); }

int64_t Interpreter::evalGroupLeaders(const Expr &e) {
  return leadersGroup(static_cast<Level>(e.value), evalOr(e.a, kNone), e.loc);
}

int64_t Interpreter::evalGroupSize(const Expr &e) {
  int64_t handle = eval(e.a);
  return failed_ ? 0 : group(handle).size;
}

int64_t Interpreter::evalGroupRank(const Expr &e) {
  int64_t handle = eval(e.a);
  return failed_ ? 0 : group(handle).me;
}

int64_t Interpreter::evalGroupContains(const Expr &e) {
  int64_t handle = eval(e.a), rank = eval(e.b);
  if (failed_)
    return 0;
  const Group &current = currentGroup();
  return rank >= 0 && rank < current.size &&
         group(handle).find(current.world(static_cast<uint32_t>(rank))) != kNone;
}

int64_t Interpreter::evalGroupMember(const Expr &e) {
  int64_t handle = eval(e.a), which = eval(e.b);
  if (failed_)
    return 0;
  const Group &of = group(handle);
  if (which < 0 || which >= of.size) {
    fail(e.loc, "member " + std::to_string(which) + " of a group of " + std::to_string(of.size));
    return 0;
  }
  return currentGroup().find(of.world(static_cast<uint32_t>(which)));
}

} // namespace colldsl
