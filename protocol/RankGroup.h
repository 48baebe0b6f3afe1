/// Ranks that open plans together, and how they name each other.
#pragma once

#include "protocol/Endpoint.h"

namespace colldsl::protocol {

/// The context of a worker whose plans are all that there is.
inline constexpr uint32_t kWorldContext = 1;

/// Ranks that open plans together.
struct RankGroup {
  uint32_t context = 0;    ///< alike on all of them; nothing else of the worker has it
  std::vector<Rank> ranks; ///< as the worker names them; kNoRank: it does not reach that one
  Rank self = kNoRank;     ///< this rank's place in the group

  /// The group of all ranks of a worker, with the worker's numbers. Nothing else uses their
  /// connections.
  static RankGroup ofAll(uint32_t numRanks, Rank self);

  /// Set if the group numbers the runs of all its plans together, in one stream.
  struct Numbering {
    uint32_t stream = 0;
    const uint32_t *next = nullptr; ///< the run that is started next; null: plans number their own
  } runs = {};

  bool numbersRuns() const { return runs.next != nullptr; }
  /// True if the group's plans are those that all ranks open together.
  bool isOfAll() const { return !numbersRuns() && context == kWorldContext; }
  /// The rank at a place of the group, as the worker names it.
  Rank rankAt(Rank place) const { return ranks[index(place)]; }
  /// The place of a rank of the worker; kNoRank: it is not in the group.
  Rank placeOf(Rank rank) const;
  /// An error: an edge leads to a rank that the worker does not reach.
  Status check(const OpenRequest &request) const;
};

} // namespace colldsl::protocol
