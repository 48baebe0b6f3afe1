#include "instantiate/dependence/ValidityRange.h"

#include <algorithm>
#include <cassert>

namespace colldsl {
namespace {

/// b - a >= 0 as slope * n + constant >= 0, denominators cleared.
struct Difference {
  Int128 slope, constant;
};

Difference difference(const Position &a, const Position &b) {
  return {static_cast<Int128>(b.scale) * a.denominator -
              static_cast<Int128>(a.scale) * b.denominator,
          static_cast<Int128>(b.offset) * a.denominator -
              static_cast<Int128>(a.offset) * b.denominator};
}

uint64_t clampToSize(Int128 value) {
  if (value < 0)
    return 0;
  return value > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(value);
}

} // namespace

bool ValidityRange::alwaysLessEqual(const Position &a, const Position &b) {
  Difference d = difference(a, b);
  return d.slope >= 0 && d.constant >= 0;
}

void ValidityRange::narrow(const Position &a, const Position &b) {
  assert(a.at <= b.at);
  Difference d = difference(a, b);
  if (d.slope >= 0 && d.constant >= 0)
    return;
  bool constant = a.scale == 0 && b.scale == 0;
  if (constant)
    return;
  if (d.slope * static_cast<Int128>(n_) + d.constant < 0)
    return pin(); // equal only by rounding
  if (d.slope > 0)
    min_ = std::max(min_, clampToSize((-d.constant + d.slope - 1) / d.slope));
  else
    max_ = std::min(max_, clampToSize(d.constant / -d.slope));
}

} // namespace colldsl
