#include "simulator/WaitLines.h"

namespace colldsl::sim {

void WaitLines::popHead(size_t line) {
  Line &l = lines_[line];
  uint32_t place = l.first;
  l.first = places_[place].next;
  (l.first == 0 ? l.last : places_[l.first].previous) = 0;
  places_[place].next = free_;
  free_ = place;
}

// Mostly behind all others: who comes later has the larger order, unless messages overtook
// each other on their way.
void WaitLines::insert(size_t line, const Waiter &waiter) {
  uint32_t place = free_;
  if (place == 0) {
    place = static_cast<uint32_t>(places_.size());
    places_.grow(1);
  } else {
    free_ = places_[place].next;
  }
  Line &l = lines_[line];
  uint32_t before = l.last;
  while (before != 0 && places_[before].waiter.order > waiter.order)
    before = places_[before].previous;
  uint32_t after = before == 0 ? l.first : places_[before].next;
  places_[place] = {waiter, after, before};
  (before == 0 ? l.first : places_[before].next) = place;
  (after == 0 ? l.last : places_[after].previous) = place;
}

Waiter &WaitLines::find(size_t line, uint64_t order) {
  uint32_t place = lines_[line].first;
  while (places_[place].waiter.order != order)
    place = places_[place].next;
  return places_[place].waiter;
}

} // namespace colldsl::sim
