/// Test data of runs: every element of every buffer of every rank has a value of its own, which any
/// rank can compute.
#pragma once

#include "ir/Schedule.h"

#include <complex>
#include <cstddef>
#include <span>

namespace colldsl::tools {

class Pattern {
public:
  /// Chooses values for which the promised reductions of the schedule are exact, so that results do
  /// not depend on the association.
  explicit Pattern(const Schedule &schedule);

  struct Place {
    Rank rank;
    BufferId buffer;
    uint64_t element; ///< the first one
    uint32_t call;    ///< each call has other data
  };

  /// Fills `bytes` with elements of the type, from the place on.
  void fill(std::span<std::byte> bytes, ElementType type, const Place &place) const;

private:
  enum class Values : uint8_t {
    Any,     ///< integers: any; others: small whole numbers, whose sums are exact
    Factors, ///< integers: any; others: 1, -1 and, while no product is too large, now and then 2 or
             ///< 2 + i
    Truths,  ///< 0, 1, 2
    Bits,    ///< any bits, also in floating-point numbers
  };

  /// The value of an element that has this number among all that are combined.
  template <typename T> T value(uint64_t random, uint64_t number) const;
  template <typename Real> Real real(uint64_t random, uint64_t number) const;
  template <typename Part> std::complex<Part> factor(uint64_t random) const;
  template <typename T> void fillAs(std::span<std::byte> bytes, const Place &place) const;

  Values values_ = Values::Any;
  uint64_t operands_ = 1; ///< the most that a promise combines
};

} // namespace colldsl::tools
