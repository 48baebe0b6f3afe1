/// The order that the steps of a plan have in every execution, and the accesses that are complete
/// when a later step begins.
#pragma once

#include "mscclpp/PlanRun.h"

namespace colldsl::mscclpp {

/// Steps before steps, transitively, by their positions in an execution. A position has a bit for
/// each earlier one.
class Reach {
public:
  explicit Reach(size_t size) : bits_(beginOf(size), 0) {}
  /// `before`: earlier positions, by position.
  void compute(const std::vector<std::vector<uint32_t>> &before);
  bool has(uint32_t from, uint32_t to) const {
    return from < to && (bits_[beginOf(to) + from / 64] >> (from % 64) & 1);
  }

private:
  /// The number of words of all positions before this one, which have position / 64 + 1 each.
  static size_t beginOf(size_t position) {
    size_t words = position / 64 + 1;
    return words * (position % 64 + 32 * (position / 64));
  }

  std::vector<uint64_t> bits_;
};

class Order {
public:
  /// Takes an execution that came to its end.
  Order(const Events &events, const Execution &execution);

  /// True if `a` happens in time before `b`; nothing is said of data.
  bool isBefore(EventId a, EventId b) const { return inTime_.has(at(a), at(b)); }
  /// True if that access of `a` is complete, and seen, when `b` begins.
  bool isCompleteBefore(EventId a, const Access &access, EventId b) const;
  uint32_t at(EventId id) const { return positions_[id]; }

private:
  bool addSignalEdges();
  /// For each signal of a counter, the number of others that may be counted while it is not.
  std::vector<size_t> countDispensable(size_t counter) const;
  bool addPacketEdges();
  void compute();

  const Events &events_;
  const Execution &execution_;
  std::vector<uint32_t> positions_;
  std::vector<std::vector<uint32_t>> data_, time_;    ///< positions before a position
  std::vector<std::vector<EventId>> packetReaders_;   ///< of what a step sends, or the proxy for it
  std::vector<std::vector<EventId>> signals_, waits_; ///< per counter
  std::vector<std::vector<bool>> linked_;             ///< per counter, by wait and signal
  Reach withData_, inTime_;
};

} // namespace colldsl::mscclpp
