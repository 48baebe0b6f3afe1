/// The queue of events, in the order of (time, order).
///
/// A wheel of wheels (Varghese, Lauck, 1987) as a monotone radix queue: the lowest wheel has a
/// slot per nanosecond of the current 256, the next one a slot per 256 ns of the current 65,536,
/// and so on over 64 bits. An event is moved at most once per wheel, mostly once or twice,
/// always by appending; so nothing is compared, and the events of a slot stay in the order of
/// pushing. Example: now is 0x1000; an event at 0x1042 goes to slot 0x42 of wheel 0, one at
/// 0x2342 to slot 0x23 of wheel 1, from which it moves down when all before 0x2300 is done.
#pragma once

#include "ir/PagedArray.h"

#include <array>
#include <cstdint>
#include <vector>

namespace colldsl::sim {

struct Event {
  uint64_t time;
  uint64_t order; ///< ties are broken by it; unique
  uint32_t vertex;
  uint32_t host;
};

class TimeWheel {
public:
  /// Makes room for so many events at a time.
  void reserve(size_t events) { chunks_.reserve(events / kChunkEvents * 2); }

  /// event.time is not before now().
  [[gnu::always_inline]] void push(const Event &event) {
    if (event.time == now_ && isRunning_) {
      pushNow(event);
      return;
    }
    place(event);
  }

  uint64_t now() const { return now_; }

  /// Advances to the next time for which there are events; false if there are none. Requires that
  /// all events of now() were taken. Calls soon(event) for those that move near.
  template <typename Soon> bool advance(Soon soon);

  /// The next event of now(), in order, including events pushed meanwhile. Null: there are no more.
  const Event *next() { return taken_ < current_.size() ? &current_[taken_++] : nullptr; }

  /// The event so many places behind the next one, or null, for prefetching its memory.
  const Event *peek(size_t ahead) const {
    return taken_ + ahead < current_.size() ? &current_[taken_ + ahead] : nullptr;
  }

private:
  static constexpr unsigned kBits = 8, kSlots = 1 << kBits, kWheels = 64 / kBits;
  static constexpr uint32_t kNoChunk = 0xffffffffu;
  static constexpr uint32_t kChunkEvents = 20;

  struct Chunk {
    Event events[kChunkEvents];
    uint32_t count;
    uint32_t next;
  };
  struct Slot {
    uint32_t first = kNoChunk, last = kNoChunk;
  };

  void place(const Event &event) {
    uint64_t difference = event.time ^ now_;
    unsigned wheel =
        difference == 0 ? 0 : (63 - static_cast<unsigned>(__builtin_clzll(difference))) / kBits;
    append(wheel, (event.time >> (wheel * kBits)) % kSlots, event);
  }
  void append(unsigned wheel, unsigned slot, const Event &event) {
    Slot &s = slots_[wheel][slot];
    if (s.last == kNoChunk || chunks_[s.last].count == kChunkEvents)
      addChunk(wheel, slot);
    Chunk &chunk = chunks_[s.last];
    chunk.events[chunk.count++] = event;
  }
  void addChunk(unsigned wheel, unsigned slot);
  void pushNow(const Event &event);
  template <typename Visit> void drain(unsigned wheel, unsigned slot, Visit visit);
  int firstSlot(unsigned wheel) const;
  uint64_t earliest(const Slot &slot) const;
  void mergeLate(bool isSorted);

  uint64_t now_ = 0;
  bool isRunning_ = false; ///< the events of now_ are being taken
  std::vector<Event> current_;
  std::vector<Event>
      late_; ///< events of now_ that came behind a larger order; until they are merged
  size_t taken_ = 0;
  std::array<std::array<Slot, kSlots>, kWheels> slots_;
  std::array<std::array<uint64_t, kSlots / 64>, kWheels> occupied_ = {};
  PagedArray<Chunk> chunks_;
  uint32_t freeChunk_ = kNoChunk;
};

/// Empties a slot, chunk by chunk. visit() pushes no event to this slot.
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

// The earliest events all lie in the first occupied slot of the lowest wheel that has any.
template <typename Soon> bool TimeWheel::advance(Soon soon) {
  isRunning_ = false;
  current_.clear();
  taken_ = 0;
  unsigned wheel = 0;
  int slot = -1;
  while (wheel < kWheels && (slot = firstSlot(wheel)) < 0)
    ++wheel;
  if (wheel == kWheels)
    return false;
  if (wheel == 0)
    now_ = (now_ & ~uint64_t{kSlots - 1}) | static_cast<uint64_t>(slot);
  else
    now_ = earliest(slots_[wheel][static_cast<unsigned>(slot)]);
  late_.clear();
  bool isSorted = true;
  drain(wheel, static_cast<unsigned>(slot), [&](const Event &event) {
    if (event.time != now_) {
      soon(event);
      return place(event);
    }
    bool isLate = !current_.empty() && event.order < current_.back().order;
    std::vector<Event> &row = isLate ? late_ : current_;
    isSorted &= row.empty() || row.back().order < event.order;
    row.push_back(event);
  });
  if (!late_.empty())
    mergeLate(isSorted);
  isRunning_ = true;
  return true;
}

} // namespace colldsl::sim
