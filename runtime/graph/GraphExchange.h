/// An exchange along a graph whose edges are all known, in the ways that passes make of it:
/// messages between nodes are combined, hot spots become trees, sends are ordered.
///
/// Each rank sends one message to each peer; only the two of them know its length. A message of at
/// most `capacityBytes` is a block of the schedule; relays learn its length when it arrives
/// (Layout::Capacity). A longer message goes straight to its peer.
///
///   direct            all messages go straight, in the order of the peers
///   direct_in_rounds  likewise, in rounds in which each rank sends and receives at most one
///   by_node           one message for each pair of nodes, by other ranks for each pair
///   by_node_busiest   the same, by the ranks that most of the messages come from or go to
///   by_trees          ranks that send few messages pass on some of those that send many
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
  /// By rank and peer: the lengths of messages, in relation to each other. Empty: they are alike.
  PeerLists weights = {};
  bool wantsAll = false; ///< all ways, not only those that may be the best
};

/// Alike on all ranks, except for the schedule, its peers and `round`.
struct GraphExchange {
  std::string name;
  /// Buffer 0: the blocks that this rank sends, one for each peer or one for all. Buffer 1: the
  /// blocks that it receives, one for each peer. n: `capacityBytes`.
  RankSchedule schedule;
  std::vector<uint32_t> to, from; ///< the peers, in the order of the blocks; ascending
  uint64_t capacityBytes = 0;     ///< 0: all messages go straight, and there is no schedule
  /// By peer in `to`: the round of a message that goes straight. Empty: they go in that order.
  std::vector<uint32_t> round;
  uint64_t beforeNs = 0, afterNs = 0; ///< by the model, with short messages: direct; this way
  std::string passes;                 ///< the passes that ran, for people
  bool isBetter = false;              ///< by the model, than `direct`
};

/// The estimated time of waysAlong(), in nanoseconds.
uint64_t searchNs(const PeerLists &peers, bool wantsAll);

/// Finds the ways of an exchange; local. The first one is `direct`; the others follow by the time
/// that the model predicts, the fastest first. The ways are the same on all ranks.
Result<std::vector<GraphExchange>> waysAlong(Library &library, const GraphExchangeRequest &request);

} // namespace colldsl
