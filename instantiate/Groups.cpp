#include "instantiate/Groups.h"

#include "ir/EpochTable.h"
#include "ir/Index32.h"

#include <algorithm>
#include <iterator>

namespace colldsl {
namespace {

/// The group of these members, which must outlive it.
Group withSelf(std::span<const Rank> members, const Group &current) {
  Group group{members.data(), index32(members.size()), kNone};
  group.me = group.find(current.self());
  return group;
}

} // namespace

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

const Topology &Groups::topology(Level level) {
  usedTopology_ |= level != Level::All;
  if (request_.topology)
    return *request_.topology;
  if (!flat_)
    flat_ = Topology::flat(request_.ranks);
  return *flat_;
}

void Groups::clearMade() {
  made_.clear();
  if (!hashes_.empty())
    for (const std::vector<Rank> &members : members_)
      hashes_.erase({members.data(), index32(members.size())});
  members_.clear();
}

uint64_t Groups::hashOf(const Group &group) {
  if (!group.members)
    return 0;
  auto [it, isNew] = hashes_.try_emplace({group.members, group.size}, group.size);
  for (uint32_t i = 0; isNew && i < group.size; ++i)
    it->second = mixHash(it->second, index(group.members[i]));
  return it->second;
}

int64_t Groups::add(const Group &group) {
  made_.push_back(group);
  return static_cast<int64_t>(made_.size() - 1);
}

int64_t Groups::add(std::vector<Rank> members, const Group &current) {
  members_.push_back(std::move(members));
  return add(withSelf(members_.back(), current));
}

std::vector<Rank> Groups::membersOf(Level level, const Group &current) {
  std::vector<Rank> result;
  auto all = topology(level).membersWith(level, current.self());
  if (all.size() <= current.size) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [&](Rank r) { return current.find(r) != kNone; });
    return result;
  }
  uint32_t group = topology(level).groupOf(level, current.self());
  for (uint32_t i = 0; i < current.size; ++i)
    if (topology(level).groupOf(level, current.world(i)) == group)
      result.push_back(current.world(i));
  return result;
}

int64_t Groups::ofLevel(Level level, const Group &current) {
  if (level == Level::All)
    return add(current);
  if (current.members == nullptr)
    return add(withSelf(topology(level).membersWith(level, current.self()), current));
  return add(membersOf(level, current), current);
}

/// True if `a` leads their group of the level rather than b.
bool Groups::leadsBefore(Level level, Rank a, Rank b) const {
  const LeaderOrder *order = request_.leaders;
  return order ? std::pair(order->place(level, a), a) < std::pair(order->place(level, b), b)
               : a < b;
}

/// The leaders of the whole job are the same on all ranks, and are found once.
int64_t Groups::leaders(Level level, int64_t include, int64_t which, const Group &current) {
  if (current.members)
    return add(leadersOf(level, include, which, current), current);
  constexpr size_t kMaxKept = size_t{1} << 22;
  auto kept = keptLeaders_.find({level, include, which});
  if (kept == keptLeaders_.end()) {
    std::vector<Rank> leaders = leadersOf(level, include, which, current);
    if (keptRanks_ + leaders.size() > kMaxKept)
      return add(std::move(leaders), current);
    keptRanks_ += leaders.size();
    kept = keptLeaders_.emplace(std::tuple(level, include, which), std::move(leaders)).first;
  }
  return add(withSelf(kept->second, current));
}

std::vector<Rank> Groups::leadersOf(Level level, int64_t include, int64_t which,
                                    const Group &current) {
  Rank demanded = include == kNone ? kNoRank : current.world(static_cast<uint32_t>(include));
  auto leadsFirst = [&](Rank a, Rank b) {
    return b != demanded && (a == demanded || leadsBefore(level, a, b));
  };
  std::vector<std::vector<Rank>> groups(topology(level).numGroups(level));
  for (uint32_t i = 0; i < current.size; ++i) {
    std::vector<Rank> &members = groups[topology(level).groupOf(level, current.world(i))];
    if (which == 0 && !members.empty()) // the others need not be told apart
      members[0] = std::min(members[0], current.world(i), leadsFirst);
    else
      members.push_back(current.world(i));
  }
  std::vector<Rank> leaders;
  for (std::vector<Rank> &members : groups) {
    if (members.empty())
      continue;
    auto place = members.begin() + which % std::ssize(members);
    std::nth_element(members.begin(), place, members.end(), leadsFirst);
    leaders.push_back(*place);
  }
  std::sort(leaders.begin(), leaders.end());
  return leaders;
}

std::span<const Rank> Groups::byLead(Level level, const Group &current, std::vector<Rank> &room) {
  bool isWholeJob = !current.members;
  if (isWholeJob && !request_.leaders)
    return topology(level).membersWith(level, current.self());
  auto sorted = [&] {
    std::vector<Rank> members = membersOf(level, current);
    std::sort(members.begin(), members.end(),
              [&](Rank a, Rank b) { return leadsBefore(level, a, b); });
    return members;
  };
  if (!isWholeJob)
    return room = sorted();
  auto [kept, isNew] =
      keptByLead_.try_emplace({level, topology(level).groupOf(level, current.self())});
  if (isNew)
    kept->second = sorted();
  return kept->second;
}

} // namespace colldsl
