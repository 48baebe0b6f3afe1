/// Positions that depend on the size symbol, and the validity range: the sizes for which
/// the decisions about them hold.
#pragma once

#include "ir/Slice.h"

namespace colldsl {

/// floor((scale * n + offset) / denominator), and its value at the size at hand.
struct Position {
  int64_t scale = 0;
  int64_t offset = 0;
  uint32_t denominator = 1;
  int64_t at = 0;

  bool sameForm(const Position &o) const {
    return scale == o.scale && offset == o.offset && denominator == o.denominator;
  }
};

/// Starts with all sizes but 0 and shrinks with each decision that was taken at n.
/// Example: at n == 1000, "floor(n/2) <= 700" holds for n <= 1400 only.
class ValidityRange {
public:
  /// No bytes at all are a class of their own: nothing conflicts there.
  explicit ValidityRange(uint64_t n = 0) : n_(n), min_(n != 0), max_(n != 0 ? UINT64_MAX : 0) {}

  uint64_t n() const { return n_; }
  SizeClass sizeClass() const { return {n_, min_, max_}; }

  /// Only this size: something used n as a number.
  void pin() { min_ = max_ = n_; }
  /// Keeps the sizes for which a <= b, which must hold at n. Cuts a little too much
  /// where only the rounding makes it hold.
  void keepLessEqual(const Position &a, const Position &b) {
    if (a.denominator != b.denominator || a.scale > b.scale || a.offset > b.offset)
      narrow(a, b);
  }
  /// a <= b for every n >= 0.
  static bool alwaysLessEqual(const Position &a, const Position &b);

  Position at(int64_t scale, int64_t offset, uint32_t denominator) const {
    return {scale, offset, denominator, positionAt(scale, offset, denominator, n_)};
  }
  Position constant(int64_t value) const { return {0, value, 1, value}; }

private:
  void narrow(const Position &a, const Position &b);

  uint64_t n_;
  uint64_t min_;
  uint64_t max_;
};

} // namespace colldsl
