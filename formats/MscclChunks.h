/// The chunks of a schedule: the largest unit that all positions are multiples of.
/// Internal to formats.
#pragma once

#include "formats/MscclRange.h"
#include "ir/Schedule.h"

#include <vector>

namespace colldsl::msccl {

class Chunks {
public:
  /// A chunk is a fraction of n where all positions are fractions of n, and some size of
  /// the class makes them whole; else so many elements, at n == sizeClass.elements.
  static Result<Chunks> of(const Schedule &schedule);

  /// Chunks are fractions of n; false: so many elements, at n == sizeClass.elements.
  bool areFractions() const { return isFraction_; }

  /// The range of a slice in the buffer that it names; ranges of a temporary count from its origin.
  Range plainRange(const Dag &dag, const Slice &slice) const;

  /// The range of a slice in the buffer that has the storage.
  Range range(const Dag &dag, const Slice &slice) const {
    return stored(dag, plainRange(dag, slice));
  }
  Range stored(const Dag &dag, Range range) const;

  /// The ranges of a list, without empty ones; ranges that continue each other are joined.
  std::vector<Range> ranges(const Dag &dag, std::span<const Slice> slices) const;

  uint32_t size(const Buffer &buffer) const;

private:
  int64_t position(int64_t scale, int64_t offset, uint32_t denominator) const;

  bool isFraction_ = false;
  uint64_t elements_ = 0; ///< else: n
  int64_t parts_ = 1;     ///< positions are counted in n / parts_, or elements,
  int64_t unit_ = 1;      ///< of which a chunk has so many
};

} // namespace colldsl::msccl
