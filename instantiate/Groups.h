/// Groups of ranks that run a collective together: by level of the machine, by leaders, or from a
/// list of members.
#pragma once

#include "instantiate/Instantiate.h"
#include "ir/Ids.h"
#include "program/Program.h"
#include "topology/Topology.h"

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace colldsl {

/// Ranks that run a collective together, numbered from 0 in ascending order of
/// their ranks in the whole job. The whole job needs no table: members is null.
struct Group {
  const Rank *members = nullptr;
  uint32_t size = 0;
  int64_t me = kNone; ///< this rank's number; kNone: not a member

  Rank world(uint32_t member) const { return members ? members[member] : Rank{member}; }
  /// This rank, in the whole job: the one that runs, or the one that a tree or graph is worked
  /// out for.
  Rank self() const { return world(static_cast<uint32_t>(me)); }
  /// The number of a rank of the job, or kNone.
  int64_t find(Rank rank) const;
  bool sameMembers(const Group &other) const;
};

/// The groups that one run makes, by handle, and the leaders of the whole job, which all runs
/// share. `current` is the group that asks, and its rank is a member.
class Groups {
public:
  explicit Groups(const InstantiateRequest &request) : request_(request) {}

  /// A new run: all handles end. Most collectives make no groups.
  void clear() {
    if (!made_.empty())
      clearMade();
  }

  /// Valid until clear().
  const Group &operator[](int64_t handle) const { return made_[static_cast<size_t>(handle)]; }

  int64_t add(const Group &group);
  int64_t add(std::vector<Rank> members, const Group &current);
  /// The members of `current` that share its rank's group of that level.
  int64_t ofLevel(Level level, const Group &current);
  /// One rank of each group of the level: the leader with that index, at least 0, counted around
  /// where a group has fewer ranks. `include`, a number in `current` or kNone, is the leader with
  /// index 0 of its own group.
  int64_t leaders(Level level, int64_t include, int64_t which, const Group &current);

  /// A hash that tells groups of several ranks apart, equal on all ranks; 0 for the whole job. It
  /// reads the members once per group, not once per rank that asks.
  uint64_t hashOf(const Group &group);

  /// The members of ofLevel(), those that lead first; valid as long as `room`.
  std::span<const Rank> byLead(Level level, const Group &current, std::vector<Rank> &room);
  /// The topology, for looking at groups of a level.
  const Topology &topology(Level level);
  /// True if a run has looked at the places of ranks. Level::All, whose one group has all ranks,
  /// does not count.
  bool usedTopology() const { return usedTopology_; }

private:
  void clearMade();
  std::vector<Rank> membersOf(Level level, const Group &current);
  std::vector<Rank> leadersOf(Level level, int64_t include, int64_t which, const Group &current);
  bool leadsBefore(Level level, Rank a, Rank b) const;

  const InstantiateRequest &request_;
  std::optional<Topology> flat_; ///< made at the first use
  bool usedTopology_ = false;

  // State of one run
  std::deque<std::vector<Rank>> members_;
  std::deque<Group> made_;

  // State of all runs: the leaders of a level's groups in the whole job, by the rank that they must
  // include and their index; and the ranks of a level's group, in the order in which they lead.
  std::map<std::tuple<Level, int64_t, int64_t>, std::vector<Rank>> keptLeaders_;
  std::map<std::pair<Level, int64_t>, std::vector<Rank>> keptByLead_;
  size_t keptRanks_ = 0; ///< of keptLeaders_

  /// By the address and number of the members; entries of one run end with it.
  std::map<std::pair<const Rank *, uint32_t>, uint64_t> hashes_;
};

} // namespace colldsl
