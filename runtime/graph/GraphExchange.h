/// An exchange along a graph whose edges are all known, after passes changed it: messages between
/// nodes are combined, hot spots become trees, sends are ordered.
///
/// Each rank sends one message to each peer; only the two of them know its length. A message of at
/// most `capacityBytes` is a block of the schedule; relays learn its length when it arrives
/// (Layout::Capacity). A longer message goes straight to its peer.
#pragma once

#include "ir/RankSchedule.h"
#include "program/library/Library.h"
#include "topology/MachineModel.h"

#include <string>

namespace colldsl {

/// By rank: the peers that it sends to, ascending, each once, never itself.
using PeerLists = std::vector<std::vector<uint32_t>>;

struct GraphExchangeRequest {
  const PeerLists &peers;
  const Topology &topology; ///< of the same ranks
  const MachineModel &machine;
  Rank rank{0};           ///< the rank that needs its schedule
  bool sendsSame = false; ///< each rank sends one block, to all its peers
};

/// Alike on all ranks, except for the schedule, its peers and `round`.
struct GraphExchange {
  /// Buffer 0: the blocks that this rank sends, one for each peer or one for all. Buffer 1: the
  /// blocks that it receives, one for each peer. n: `capacityBytes`. Without ops: the passes gain
  /// nothing.
  RankSchedule schedule;
  std::vector<uint32_t> to, from; ///< the peers, in the order of the blocks; ascending
  uint64_t capacityBytes = 0;     ///< 0: nothing is gained, all messages go straight
  std::vector<uint32_t> round;    ///< by peer in `to`: the round of a message that goes straight
  uint64_t beforeNs = 0, afterNs = 0; ///< by the model, with short messages
  std::string passes;                 ///< the passes that ran, for people

  bool isBetter() const { return capacityBytes > 0; }
};

/// The estimated time of exchangeAlong(), in nanoseconds.
uint64_t searchNs(const PeerLists &peers);

/// Finds the exchange; local. Its decisions are the same on all ranks.
Result<GraphExchange> exchangeAlong(Library &library, const GraphExchangeRequest &request);

} // namespace colldsl
