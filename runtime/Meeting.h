/// Ranks tell each other of themselves, and those of a node come to share its memory. Internal to
/// WireUp. All calls but the first are collective over all ranks: whoever has trouble takes part,
/// so that all learn of it.
#pragma once

#include "runtime/Cards.h"
#include "topology/Nics.h"

namespace colldsl {

class Meeting {
public:
  /// Both outlive it.
  Meeting(const OutOfBand &launcher, const shm::Options &options);

  /// What this rank tells with the next exchange.
  Card &mine() { return mine_; }
  void note(const Status &trouble);

  /// The cards of all. An error, alike on all ranks: one has trouble, or they do not fit together.
  Status exchange();
  std::span<const Card> cards() const { return cards_; }

  /// The first exchange, in which rank 0 tells of memory for all, if it `offers` any.
  Status begin(bool offers);

  /// After begin(): the ranks of each node share its memory. `nodes`: by rank, the first one of its
  /// node.
  Result<WiredUp> share(std::vector<uint32_t> nodes);

  /// Per rank of a node: the hardware thread it is taken to run on.
  std::vector<uint32_t> pusOf(std::span<const uint32_t> ranks) const;

  /// The hardware threads of the ranks of this host, up to this one.
  std::vector<Threads> seats() const;

private:
  void make(uint32_t numRanks);
  void open(const Card &owner, uint32_t numRanks);

  const OutOfBand &launcher_;
  const shm::Options &options_;
  Card mine_;
  std::vector<Card> cards_;
  std::unique_ptr<shm::World> world_;
};

/// The ranks of the node of `rank`, ascending.
std::vector<uint32_t> ranksOfNode(std::span<const uint32_t> nodes, uint32_t rank);

bool isOneNode(std::span<const uint32_t> nodes);

} // namespace colldsl
