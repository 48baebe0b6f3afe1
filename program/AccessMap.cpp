#include "program/AccessMap.h"

#include <algorithm>

namespace colldsl {
namespace {

bool before(const BufferPlace &a, const BufferPlace &b) {
  return a.block != b.block ? a.block < b.block : a.position.at < b.position.at;
}

/// a <= b is so at the size at hand; makes it so for all sizes that are kept.
bool keepOrder(const BufferPlace &a, const BufferPlace &b, SizeRange &range, bool callTime) {
  if (a.block != b.block)
    return true;
  if (callTime)
    return SizeRange::alwaysLessEqual(a.position, b.position);
  range.keepLessEqual(a.position, b.position);
  return true;
}

} // namespace

void AccessMap::clear() {
  Cut first;
  first.place.position = {0, INT64_MIN, 1, INT64_MIN};
  cuts_.assign(1, first);
}

bool AccessMap::cutAt(const BufferPlace &place, SizeRange &range, bool callTime, size_t &at) {
  auto it =
      std::lower_bound(cuts_.begin() + 1, cuts_.end(), place,
                       [](const Cut &cut, const BufferPlace &p) { return before(cut.place, p); });
  at = it - cuts_.begin();
  if (it != cuts_.end() && !before(place, it->place))
    return it->place.position.sameForm(place.position) ||
           (keepOrder(it->place, place, range, callTime) &&
            keepOrder(place, it->place, range, callTime));
  if (at > 1 && !keepOrder(cuts_[at - 1].place, place, range, callTime))
    return false;
  if (it != cuts_.end() && !keepOrder(place, it->place, range, callTime))
    return false;
  Cut cut = cuts_[at - 1];
  cut.place = place;
  cuts_.insert(it, cut);
  return true;
}

bool AccessMap::skipEmpty(const BufferPlace &begin, const BufferPlace &end, SizeRange &range,
                          bool callTime) {
  if (begin.position.sameForm(end.position))
    return true;
  return keepOrder(end, begin, range, callTime);
}

} // namespace colldsl
