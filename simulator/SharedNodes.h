/// The parts of nodes that their ranks share: the interfaces towards other nodes, and the memory.
/// Internal to this folder.
///
/// A rank has one of its node's interfaces, or each message takes the one that is free first.
/// An interface sends and receives one byte after the other. Long messages that it sends at the
/// same time share it equally if the model says so (processor sharing, by virtual time); short ones
/// then pass between them, and wait for short ones alone.
#pragma once

#include "topology/MachineModel.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace colldsl::sim {

class SharedNodes {
public:
  /// Ranks take the interfaces of their node by turns. Null: all ranks are on one node.
  SharedNodes(const NodeCosts &costs, const Topology *topology, uint32_t numRanks);

  bool hasInterfaces() const { return costs_.interfaces > 0; }
  PerByte G() const { return costs_.G; }
  bool isShared(bool isLong) const { return costs_.isFair && isLong; }
  bool isPerMessage() const { return costs_.spread == Spread::Messages; }

  /// The interface that a message of a rank takes in either direction, which count as two.
  uint32_t sending(uint32_t rank, bool isLong) const { return interfaceFor(rank, 0, isLong); }
  uint32_t receiving(uint32_t rank, bool isLong) const {
    return interfaceFor(rank, sendingInterfaces(), isLong);
  }
  bool isSending(uint32_t interface) const { return interface < sendingInterfaces(); }

  /// A message that comes to the interface at `at`, and has it for itself: when it begins to pass.
  uint64_t pass(uint32_t interface, uint64_t at, uint64_t bytes);

  /// A long message shares the interface from `now` on.
  void join(uint32_t interface, uint64_t now, uint64_t bytes, uint32_t send);
  /// The time at which the next of the messages that share the interface is through, if none joins;
  /// nothing if there is none.
  std::optional<uint64_t> nextThrough(uint32_t interface) const;
  /// Counts the joins of the interface: what nextThrough() said holds as long as it stays the same.
  uint32_t joins(uint32_t interface) const { return interfaces_[interface].joins; }
  /// Removes a message that is through at `now`, and tells its send; nothing if none is.
  std::optional<uint32_t> takeThrough(uint32_t interface, uint64_t now);

  /// The end of work in the memory of a rank's node: work that begins at `from` and takes `workNs`
  /// alone.
  uint64_t copyUntil(uint32_t rank, uint64_t from, uint64_t workNs);

private:
  struct Interface {
    uint64_t free[2] = {}; ///< for messages one by one, and for those that share it
    /// The work that each of the messages has got since the first one, in 2^-kFractionBits ns.
    uint64_t served = 0;
    uint64_t servedAt = 0; ///< the time at which `served` was true
    uint32_t joins = 0;
    std::multimap<uint64_t, uint32_t> ends; ///< the value of `served` at which a send is through
  };
  static constexpr unsigned kFractionBits = 16;

  uint32_t sendingInterfaces() const { return static_cast<uint32_t>(interfaces_.size() / 2); }
  uint32_t interfaceFor(uint32_t rank, uint32_t first, bool isLong) const;
  static uint64_t servedBy(const Interface &interface, uint64_t now);

  NodeCosts costs_;
  std::vector<uint32_t> nodeOf_, interfaceOf_; ///< per rank
  std::vector<Interface> interfaces_;          ///< of all nodes, to send, then to receive
  std::vector<uint64_t> memoryFree_;           ///< per node
};

} // namespace colldsl::sim
