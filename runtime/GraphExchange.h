/// An exchange along a graph whose edges are all known, as passes make it: messages between nodes
/// are combined, hot spots become trees, sends are ordered.
///
/// Each rank sends one message to each peer, whose length the two of them alone know. A message
/// of at most `capacityBytes` is a block of the schedule, which relays learn the length of as it
/// comes (Layout::Capacity); a longer one goes straight to its peer.
#pragma once

#include "ir/RankSchedule.h"
#include "runtime/Library.h"
#include "topology/MachineModel.h"

#include <string>

namespace colldsl {

/// By rank: those that it sends to, ascending, each once, and never itself.
using PeerLists = std::vector<std::vector<uint32_t>>;

struct GraphExchangeRequest {
  const PeerLists &peers;
  const Topology &topology; ///< of the same ranks
  const MachineModel &machine;
  Rank rank{0};           ///< whose schedule is wanted
  bool sendsSame = false; ///< each rank sends one block, to all its peers
};

/// Alike on all ranks, but for the schedule, its peers and `round`.
struct GraphExchange {
  /// Buffer 0: what this rank sends, a block for each peer or one for all. Buffer 1: what it
  /// receives, a block for each peer. n: `capacityBytes`. Without ops: the passes gain nothing.
  RankSchedule schedule;
  std::vector<uint32_t> to, from; ///< the peers, in the order of the blocks; ascending
  uint64_t capacityBytes = 0;     ///< 0: nothing is gained, all messages go straight
  std::vector<uint32_t> round; ///< by peer in `to`: in which a message that goes straight is sent
  uint64_t beforeNs = 0, afterNs = 0; ///< by the model, with short messages
  std::string passes;                 ///< what was done, for people

  bool isBetter() const { return capacityBytes > 0; }
};

/// What the search for it takes, by the model.
uint64_t searchNs(const PeerLists &peers);

/// Local, and the same decision on all ranks.
Result<GraphExchange> exchangeAlong(Library &library, const GraphExchangeRequest &request);

} // namespace colldsl
