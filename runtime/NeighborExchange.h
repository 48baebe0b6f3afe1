/// A few words along each edge of a graph of which each rank knows its own edges alone, as often
/// as wanted.
#pragma once

#include "executor/Plan.h"
#include "ir/RankSchedule.h"
#include "runtime/Communicator.h"

namespace colldsl {

/// Of parallel edges the k-th that leaves a rank is the k-th that arrives.
class NeighborExchange {
public:
  /// Collective. An error on all ranks, if one expects what nobody sends. The communicator
  /// outlives it.
  static Result<std::unique_ptr<NeighborExchange>> open(Communicator &communicator,
                                                        std::span<const Rank> to,
                                                        std::span<const Rank> from,
                                                        uint32_t wordsPerEdge);

  /// What goes along the i-th edge to others in the next run.
  std::span<uint64_t> outgoing(size_t i) { return {&outgoing_[i * words_], words_}; }
  /// What came along the i-th edge from others in the last run.
  std::span<const uint64_t> incoming(size_t i) const { return {&incoming_[i * words_], words_}; }

  /// Waits for neighbors only.
  Status run();

private:
  NeighborExchange(std::span<const Rank> to, std::span<const Rank> from, uint32_t wordsPerEdge)
      : words_(wordsPerEdge), outgoing_(to.size() * words_), incoming_(from.size() * words_) {}

  size_t words_;
  std::vector<uint64_t> outgoing_, incoming_;
  RankSchedule schedule_;
  std::unique_ptr<Plan> plan_;
};

} // namespace colldsl
