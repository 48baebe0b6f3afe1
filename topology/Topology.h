/// The places of the ranks of a job: groups of ranks per level of the machine, and distances
/// between ranks. Immutable; any thread may read it. Takes O(ranks) memory.
#pragma once

#include "ir/Result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
  uint32_t leafSwitch = 0; ///< the switch of the node
  bool operator==(const Place &) const = default;
};

class Topology {
public:
  /// All ranks on one node without structure: a core each, one of everything else.
  static Topology flat(uint32_t numRanks);

  /// One place per rank. Ids of groups may have gaps, but memory is proportional to
  /// the largest; core ids are kept as they are.
  static Topology fromPlaces(std::vector<Place> places);

  /// Variant of fromPlaces() for places of which only the node is unique in the whole job: each
  /// node counts all else for itself.
  static Topology fromNodes(std::vector<Place> places);

  /// From a description:
  ///
  ///   flat
  ///   local                                this machine, as far as this process may use it
  ///   FILE.xml                             a machine that hwloc wrote down
  ///   node:4 package:2 numa:1 core:8 pu:1  a synthetic one
  ///
  /// A synthetic machine is a list of levels from the outside in, each with its count
  /// per parent: switch, node, board, package (or socket) and numa in either order, l3, l2,
  /// core, pu. What is left out counts one per parent. `node:N` before `local` or
  /// `FILE.xml` means N such nodes, `switch:S node:N` N on each of S switches. What may follow:
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
};

inline constexpr unsigned kOtherNode = 7; ///< from here on messages leave the node
inline constexpr unsigned kMaxDistance = 8;

} // namespace colldsl
