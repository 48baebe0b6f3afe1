#include "simulator/WaitLines.h"

namespace colldsl::sim {

// Inserts a place by order, mostly at the end: a later event has the larger order, unless messages
// overtook each other on their way.
void WaitLines::insertPlace(uint32_t &first, const Waiter &waiter) {
  uint32_t place = free_;
  if (place == 0) {
    place = static_cast<uint32_t>(places_.size());
    places_.grow(1);
  } else {
    free_ = places_[place].next;
  }
  places_[place] = {waiter, 1, 0, place, place};
  if (first == 0) {
    first = place;
    return;
  }
  uint32_t last = places_[first].previous, before = last;
  while (places_[before].waiter.order > waiter.order && before != first)
    before = places_[before].previous;
  bool isFirst = places_[before].waiter.order > waiter.order;
  if (isFirst)
    before = last;
  uint32_t after = places_[before].next;
  places_[place].next = after;
  places_[place].previous = before;
  places_[before].next = places_[after].previous = place;
  if (isFirst)
    first = place;
}

void WaitLines::removePlace(uint32_t &first) {
  uint32_t place = first;
  Place &gone = places_[place];
  places_[gone.next].previous = gone.previous;
  places_[gone.previous].next = gone.next;
  first = gone.next == place ? 0 : gone.next;
  gone.next = free_;
  free_ = place;
}

Waiter &WaitLines::find(uint64_t lines, uint32_t line, uint64_t order) {
  uint32_t place = first_[lines + line];
  while (places_[place].waiter.order != order)
    place = places_[place].next;
  return places_[place].waiter;
}

} // namespace colldsl::sim
