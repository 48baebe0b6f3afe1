#include "simulator/TimeWheel.h"

#include <algorithm>
#include <bit>

namespace colldsl::sim {

void TimeWheel::addChunk(unsigned wheel, unsigned slot) {
  uint32_t chunk = freeChunk_;
  if (chunk == kNoChunk) {
    chunk = static_cast<uint32_t>(chunks_.size());
    chunks_.grow(1);
  } else {
    freeChunk_ = chunks_[chunk].next;
  }
  chunks_[chunk].count = 0;
  chunks_[chunk].next = kNoChunk;
  Slot &s = slots_[wheel][slot];
  (s.last == kNoChunk ? s.first : chunks_[s.last].next) = chunk;
  s.last = chunk;
  occupied_[wheel][slot / 64] |= uint64_t{1} << slot % 64;
}

// Inserts by order. New events have the largest order so far and go to the end; an event that
// waited keeps its order.
void TimeWheel::pushNow(const Event &event) {
  auto at = current_.end();
  while (at > current_.begin() + static_cast<ptrdiff_t>(taken_) && at[-1].order > event.order)
    --at;
  current_.insert(at, event);
}

int TimeWheel::firstSlot(unsigned wheel) const {
  for (unsigned word = 0; word < kSlots / 64; ++word)
    if (occupied_[wheel][word] != 0)
      return static_cast<int>(word * 64) + std::countr_zero(occupied_[wheel][word]);
  return -1;
}

uint64_t TimeWheel::earliest(const Slot &slot) const {
  uint64_t time = UINT64_MAX;
  for (uint32_t chunk = slot.first; chunk != kNoChunk; chunk = chunks_[chunk].next)
    for (uint32_t i = 0; i < chunks_[chunk].count; ++i)
      time = std::min(time, chunks_[chunk].events[i].time);
  return time;
}

// Late events mostly come in order, too, so two ascending rows are merged.
void TimeWheel::mergeLate(bool isSorted) {
  auto isBefore = [](const Event &a, const Event &b) { return a.order < b.order; };
  auto middle = static_cast<ptrdiff_t>(current_.size());
  current_.insert(current_.end(), late_.begin(), late_.end());
  if (isSorted)
    std::inplace_merge(current_.begin(), current_.begin() + middle, current_.end(), isBefore);
  else
    std::sort(current_.begin(), current_.end(), isBefore);
}

} // namespace colldsl::sim
