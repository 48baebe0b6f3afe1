/// The events that wait for a processor or an interface of a rank. Each line holds events that take
/// the same resources, in the order of Event::order. Only its head, and the head before it, have
/// events in the queue, so that a thousand ready sends cost no more than one. Sends that became
/// ready together and lie side by side take no more memory than one, either.
#pragma once

#include "ir/PagedArray.h"
#include "simulator/TimeWheel.h"

namespace colldsl::sim {

struct Waiter {
  uint64_t order;
  uint32_t vertex;
  bool isQueued; ///< has an event
};

/// The lines of all ranks. The caller keeps a number for each rank, `lines`, which is 0 until an
/// event waits there: a rank where none ever waits takes no memory here.
class WaitLines {
public:
  WaitLines(uint32_t linesPerRank, uint64_t orderStep)
      : linesPerRank_(linesPerRank), orderStep_(orderStep), first_(1), places_(1) {}

  bool isEmpty(uint64_t lines, uint32_t line) const {
    return lines == 0 || first(lines, line) == 0;
  }
  Waiter &head(uint64_t lines, uint32_t line) { return places_[first(lines, line)].waiter; }
  void popHead(uint64_t lines, uint32_t line);
  void insert(uint64_t &lines, uint32_t line, const Waiter &waiter);
  /// The waiter with this order, which is in line, and is or was its head.
  Waiter &find(uint64_t lines, uint32_t line, uint64_t order);

private:
  /// One waiter or several: the next one's order is orderStep_ more, its vertex `step` more. No
  /// order lies between theirs, since they were numbered together.
  struct Place {
    Waiter waiter;
    uint32_t count, step;
    uint32_t next, previous; ///< in a ring
  };

  uint32_t first(uint64_t lines, uint32_t line) const { return first_[lines + line]; }
  bool extend(Place &last, const Waiter &waiter) const;
  void insertPlace(uint32_t &first, const Waiter &waiter);
  void removePlace(uint32_t &first);

  uint32_t linesPerRank_;
  uint64_t orderStep_;
  PagedArray<uint32_t> first_; ///< per line; 0: empty. Those of a rank lie side by side
  PagedArray<Place> places_;   ///< the first one is not used
  uint32_t free_ = 0;
};

inline void WaitLines::insert(uint64_t &lines, uint32_t line, const Waiter &waiter) {
  if (lines == 0) {
    lines = first_.size();
    first_.grow(linesPerRank_);
  }
  uint32_t &first = first_[lines + line];
  if (first == 0 || !extend(places_[places_[first].previous], waiter))
    insertPlace(first, waiter);
}

/// Adds the waiter to the last place, if it continues the waiters there. True if it did.
inline bool WaitLines::extend(Place &last, const Waiter &waiter) const {
  uint32_t step = last.count == 1 ? waiter.vertex - last.waiter.vertex : last.step;
  if (waiter.order != last.waiter.order + last.count * orderStep_ ||
      waiter.vertex != last.waiter.vertex + last.count * step)
    return false;
  last.step = step;
  ++last.count;
  return true;
}

inline void WaitLines::popHead(uint64_t lines, uint32_t line) {
  uint32_t &first = first_[lines + line];
  Place &place = places_[first];
  if (--place.count == 0)
    return removePlace(first);
  place.waiter.order += orderStep_;
  place.waiter.vertex += place.step;
  place.waiter.isQueued = false;
}

} // namespace colldsl::sim
