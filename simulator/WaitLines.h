/// Who waits for a processor or an interface of a rank. Each line holds what takes the same
/// resources, in the order of Event::order; only its head, and whoever was the head before,
/// have events in the queue, so that a thousand ready sends cost no more than one.
#pragma once

#include "simulator/PagedArray.h"
#include "simulator/TimeWheel.h"

namespace colldsl::sim {

struct Waiter {
  uint64_t order;
  uint32_t vertex;
  bool isQueued; ///< has an event
};

/// The lines of all ranks. One in which nobody waits takes eight bytes.
class WaitLines {
public:
  explicit WaitLines(size_t count) : lines_(count), places_(1) {}

  bool isEmpty(size_t line) const { return lines_[line].first == 0; }
  Waiter &head(size_t line) { return places_[lines_[line].first].waiter; }
  void popHead(size_t line);
  void insert(size_t line, const Waiter &waiter);
  /// The one with this order, which is in line.
  Waiter &find(size_t line, uint64_t order);

private:
  struct Place {
    Waiter waiter;
    uint32_t next, previous; ///< 0: there is none
  };
  struct Line {
    uint32_t first, last; ///< 0: nobody
  };

  PagedArray<Line> lines_;
  PagedArray<Place> places_; ///< the first one is not used
  uint32_t free_ = 0;
};

} // namespace colldsl::sim
