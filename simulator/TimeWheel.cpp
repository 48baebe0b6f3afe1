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

// New events have the largest order so far and go to the end; one that waited keeps its own.
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

/// Empties a slot, chunk by chunk. What visit() pushes does not come here.
template <typename Visit> void TimeWheel::drain(unsigned wheel, unsigned slot, Visit visit) {
  uint32_t chunk = slots_[wheel][slot].first;
  slots_[wheel][slot] = {};
  occupied_[wheel][slot / 64] &= ~(uint64_t{1} << slot % 64);
  while (chunk != kNoChunk) {
    for (uint32_t i = 0; i < chunks_[chunk].count; ++i)
      visit(Event(chunks_[chunk].events[i])); // pushing may move the chunks
    uint32_t next = chunks_[chunk].next;
    chunks_[chunk].next = freeChunk_;
    freeChunk_ = chunk;
    chunk = next;
  }
}

bool TimeWheel::advance() {
  isRunning_ = false;
  current_.clear();
  taken_ = 0;
  unsigned wheel = 0;
  int slot = -1;
  // The earliest event lies in the first occupied slot of the lowest wheel that has any.
  for (;;) {
    for (wheel = 0; wheel < kWheels && (slot = firstSlot(wheel)) < 0;)
      ++wheel;
    if (wheel == kWheels)
      return false;
    unsigned shift = wheel * kBits;
    uint64_t above = shift + kBits == 64 ? 0 : now_ >> (shift + kBits) << (shift + kBits);
    now_ = above | static_cast<uint64_t>(slot) << shift;
    if (wheel == 0)
      break;
    drain(wheel, static_cast<unsigned>(slot), [&](const Event &event) { place(event); });
  }
  isRunning_ = true;
  bool isSorted = true;
  drain(0, static_cast<unsigned>(slot), [&](const Event &event) {
    isSorted &= current_.empty() || current_.back().order < event.order;
    current_.push_back(event);
  });
  if (!isSorted)
    std::sort(current_.begin(), current_.end(),
              [](const Event &a, const Event &b) { return a.order < b.order; });
  return true;
}

} // namespace colldsl::sim
