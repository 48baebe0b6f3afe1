/// Values on a line of bytes: disjoint intervals, each with a value. Bytes outside of all intervals
/// have none.
#pragma once

#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace colldsl::proof {

/// Value is copyable, default-constructible, and has `Value tail(uint64_t skip) const`: the value
/// of the bytes from the skip-th on, for an interval that is cut there.
/// All operations cost log n plus the number of intervals they touch. Intervals are numbered as
/// they are made, so that which ones are touched, and before which one a gap lies, are decisions
/// that can be noted.
template <typename Value> class IntervalMap {
public:
  /// Calls see(begin, end, const Value *) for the intervals and gaps (null) of [begin, end),
  /// in order.
  template <typename See> void visit(uint64_t begin, uint64_t end, See see) const {
    auto it = intervals_.upper_bound(begin);
    if (it != intervals_.begin() && std::prev(it)->second.end > begin)
      --it;
    Decisions::note(begin < end);
    while (begin < end) {
      if (it == intervals_.end() || it->first >= end) {
        noteGapBefore(it);
        see(begin, end, static_cast<const Value *>(nullptr));
        return;
      }
      noteMeeting(begin, end, it);
      if (begin < it->first)
        see(begin, it->first, static_cast<const Value *>(nullptr));
      uint64_t from = std::max(begin, it->first);
      uint64_t to = std::min(end, it->second.end);
      Value part = it->second.value.tail(from - it->first);
      see(from, to, static_cast<const Value *>(&part));
      begin = to;
      ++it;
    }
  }

  /// Gives [begin, end) one value.
  void assign(uint64_t begin, uint64_t end, const Value &value) {
    Decisions::note(begin < end);
    if (begin == end)
      return;
    auto first = cut(begin);
    auto last = cutFrom(first, end);
    if (first == last)
      noteGapBefore(last);
    for (auto it = first; it != last; ++it)
      noteMeeting(begin, end, it);
    if (first != last && first->first == begin) {
      first->second = {end, value, made_++};
      intervals_.erase(std::next(first), last);
    } else {
      intervals_.emplace_hint(intervals_.erase(first, last), begin, Rest{end, value, made_++});
    }
  }

  /// Calls change(Value &) for each interval of [begin, end); gaps become intervals first, with
  /// Value().
  template <typename Change> void update(uint64_t begin, uint64_t end, Change change) {
    Decisions::note(begin < end);
    if (begin == end)
      return;
    auto it = cut(begin);
    auto last = cutFrom(it, end);
    while (begin < end) {
      bool isGap = it == last || it->first > begin;
      Decisions::note(isGap);
      if (isGap) {
        noteGapBefore(it);
        it = intervals_.emplace_hint(it, begin,
                                     Rest{it == last ? end : it->first, Value(), made_++});
      }
      noteMeeting(begin, end, it);
      change(it->second.value);
      begin = it->second.end;
      ++it;
    }
  }

private:
  struct Rest {
    uint64_t end;
    Value value;
    uint64_t number;
  };
  static constexpr uint64_t kGap = UINT64_MAX, kNoInterval = UINT64_MAX - 1;
  using Map = std::map<uint64_t, Rest>;

  /// No interval crosses `at` afterwards. Returns the first one at or behind it.
  typename Map::iterator cut(uint64_t at) {
    auto it = intervals_.lower_bound(at);
    if (it == intervals_.begin())
      return it;
    auto before = std::prev(it);
    if (before->second.end <= at)
      return it;
    Decisions::note(before->second.number);
    Rest tail{before->second.end, before->second.value.tail(at - before->first), made_++};
    before->second.end = at;
    return intervals_.emplace_hint(it, at, std::move(tail));
  }

  /// cut(at), where the answer is at or behind `from`: most often it is close by.
  typename Map::iterator cutFrom(typename Map::iterator from, uint64_t at) {
    if (from == intervals_.end() || from->first >= at)
      return from;
    if (from->second.end == at)
      return std::next(from);
    return cut(at);
  }

  /// Notes the position of a gap: the interval behind it.
  template <typename At> void noteGapBefore(At it) const {
    Decisions::note(kGap);
    Decisions::note(it == intervals_.end() ? kNoInterval : it->second.number);
  }

  template <typename At> static void noteMeeting(uint64_t begin, uint64_t end, At it) {
    auto compare = [](uint64_t a, uint64_t b) { return a < b ? 0 : a == b ? 1 : 2; };
    Decisions::note(it->second.number);
    Decisions::note(compare(begin, it->first) * 3 + compare(end, it->second.end));
  }

  Map intervals_;
  uint64_t made_ = 0;
};

} // namespace colldsl::proof
