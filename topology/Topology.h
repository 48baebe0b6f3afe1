/// The places of the ranks of a job: groups of ranks per level of the machine, and distances
/// between ranks. Immutable; any thread may read it. Takes O(ranks) memory.
#pragma once

#include "ir/Result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

/// The levels at which ranks form groups. Boards contain sockets; NUMA nodes and
/// sockets lie within a board, but either may contain the other.
enum class Level : uint8_t { All, Node, Board, Socket, Numa };

inline constexpr std::array<Level, 5> kLevels = {Level::All, Level::Node, Level::Board,
                                                 Level::Socket, Level::Numa};

std::string_view spelling(Level level);
std::optional<Level> parseLevel(std::string_view text);

inline constexpr uint32_t kNoPu = 0xffffffffu;

/// The place of one rank. Ids are unique in the whole job (socket 1 of node 1 is not socket 1 of
/// node 0) and ascend in physical order.
struct Place {
  uint32_t node = 0;
  uint32_t board = 0;
  uint32_t socket = 0;
  uint32_t numa = 0;  ///< memory controller
  uint32_t cache = 0; ///< outermost cache above the core; cores have it in common exactly when they
                      ///< share any
  uint32_t core = 0;
  uint32_t pu = kNoPu; ///< the hardware thread to bind to, as its node's OS counts; kNoPu: do not
  uint32_t numaOfNode =
      0; ///< memory controller, of all of the node, whether or not ranks sit there
  uint32_t leafSwitch = 0; ///< the switch of the node: its group of the innermost outer level
  bool operator==(const Place &) const = default;
};

/// A level above the node, such as switches, or groups of switches: which nodes form groups.
struct OuterLevel {
  std::string name;
  std::vector<uint32_t> groupOfNode; ///< index: node
  std::vector<std::string> groups;   ///< names, index: group; empty: groups have numbers alone
};

class Topology {
public:
  /// All ranks on one node without structure: a core each, one of everything else.
  static Topology flat(uint32_t numRanks);

  /// One place per rank. Ids of groups may have gaps, but memory is proportional to
  /// the largest; core ids are kept as they are. `outer`: levels above the node, outermost first,
  /// each within the one before.
  static Topology fromPlaces(std::vector<Place> places, std::span<const OuterLevel> outer = {});

  /// Variant of fromPlaces() for places of which only the node is unique in the whole job: each
  /// node counts all else for itself.
  static Topology fromNodes(std::vector<Place> places);

  /// From a description:
  ///
  ///   flat
  ///   local                                this machine, as far as this process may use it
  ///   FILE.xml                             a machine that hwloc wrote down
  ///   node:4 package:2 numa:1 core:8 pu:1  a synthetic one
  ///   nodes=FILE hosts=LIST                nodes of a file, of a host list, or both
  ///
  /// A synthetic machine is a list of levels from the outside in, each with its count
  /// per parent: group (of switches), switch, node, board, package (or socket) and numa in either
  /// order, l3, l2, core, pu. What is left out counts one per parent. `node:N` before `local` or
  /// `FILE.xml` means N such nodes, `switch:S node:N` N on each of S switches.
  ///
  /// nodes=FILE names the nodes and their groups at the levels above (topology/NodeTable.h):
  /// `prefix=TEXT` comes before each name there, `levels=A,B` says which levels count. Node k of
  /// the job is the k-th of hosts=LIST, a host list of Slurm or @FILE with hosts in each line
  /// (topology/JobHosts.h), and without it the k-th of the file. Levels within a node, `local` or
  /// `FILE.xml` describe each of the nodes, which has one core otherwise. A host that is listed
  /// several times has as many ranks, in the order of the list. What may follow:
  ///
  ///   bind=core      rank r on core r, in physical order (the default)
  ///   bind=scatter   consecutive ranks on different nodes, then sockets, then NUMA nodes
  ///   bind=0,6,8-11  rank r on the r-th core of this list, counted over all nodes
  ///   oversubscribe  ranks may share hardware threads (`local` implies it)
  ///
  /// Once every core has a rank, the next ones take the cores' further hardware
  /// threads in the same order. More ranks than threads are an error unless
  /// oversubscribed: then the placement begins again.
  static Result<Topology> make(std::string_view description, uint32_t numRanks);

  /// On this machine, rank r at the hardware thread pus[r], as the operating system counts.
  /// A thread that the machine does not have is an error.
  static Result<Topology> onThisMachine(std::span<const uint32_t> pus);

  uint32_t numRanks() const { return static_cast<uint32_t>(places_.size()); }

  /// Groups of a level are numbered from 0 in physical order; each has a member.
  uint32_t numGroups(Level level) const;
  uint32_t groupOf(Level level, Rank rank) const;
  std::span<const Rank> members(Level level, uint32_t group) const; ///< ascending
  std::span<const Rank> membersWith(Level level, Rank rank) const {
    return members(level, groupOf(level, rank));
  }

  /// The rank's place; its node, board, socket and numa are the numbers of its groups.
  const Place &place(Rank rank) const { return places_[index(rank)]; }

  /// The levels above the node, outermost first. Their nodes are the groups of Level::Node, and
  /// their groups are numbered as those are.
  std::span<const OuterLevel> outerLevels() const { return outer_; }
  uint32_t outerGroupOf(size_t level, Rank rank) const {
    return outer_[level].groupOfNode[place(rank).node];
  }
  /// The number of levels at which the ranks are of different groups, from the node outwards: 0 on
  /// one node, 1 on nodes of one innermost outer group, outerLevels().size() + 1 in different
  /// groups of the outermost level.
  unsigned levelsCrossed(Rank a, Rank b) const;

  /// The distance classes of Ma, Kernel-assisted and Topology-aware MPI Collectives
  /// (2012), section 4.4.1, and one for the network:
  ///   0 itself               4 same socket, other memory controller
  ///   1 share a cache        5 neither, same board
  ///   2 same socket and      6 same node
  ///     memory controller    7 other node, same switch
  ///   3 other socket, same   8 other switch
  ///     memory controller
  unsigned distance(Rank a, Rank b) const;

  /// A hash of all that schedules can depend on: equal for topologies with the same groups at all
  /// levels and the same distances. Hardware threads do not count, nor the machine that they belong
  /// to.
  uint64_t hash() const;

private:
  struct Groups {
    std::vector<uint32_t> begin; ///< group g: members[begin[g]] to members[begin[g + 1]]
    std::vector<Rank> members;
  };

  std::vector<Place> places_;
  std::array<Groups, kLevels.size()> groups_; ///< index == Level
  std::vector<OuterLevel> outer_;
};

inline constexpr unsigned kOtherNode = 7; ///< from here on messages leave the node
inline constexpr unsigned kMaxDistance = 8;

} // namespace colldsl
