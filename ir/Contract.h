/// The promises of a collective, written out for one rank: `ensures` with all its
/// loops and conditions evaluated. The verifier proves them, `run` checks data
/// against them.
#pragma once

#include "ir/Slice.h"

namespace colldsl {

/// The value of a slice on some rank at entry (`x@r`).
struct EntryValue {
  Rank rank = kNoRank;
  Slice slice; ///< of a buffer of `rank`; of a collective, parameters have one id on all ranks
  bool operator==(const EntryValue &) const = default;
};

/// target at exit == the operands' values at entry: one operand, or several
/// combined by `reduction` in this order (any order if it commutes).
struct Ensure {
  Slice target;
  bool isReduction = false;
  Reduction reduction = Reduction::Sum;
  uint32_t operandBegin = 0; ///< into Contract::operands
  uint32_t operandCount = 0;
  SourceLoc loc;
  bool operator==(const Ensure &) const = default;
};

struct Contract {
  std::vector<Ensure> ensures;
  std::vector<EntryValue> operands;

  std::span<const EntryValue> operandsOf(const Ensure &e) const {
    return {operands.data() + e.operandBegin, e.operandCount};
  }
  bool operator==(const Contract &) const = default;
};

} // namespace colldsl
