/// The promises of a collective, written out for one rank: `ensures` with all its
/// loops and conditions evaluated. The verifier proves them, `run` checks data
/// against them.
#pragma once

#include "ir/Slice.h"

#include <string>
#include <vector>

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

/// An invariant of a loop where it must hold: before one iteration, or behind the last one. Images
/// and the text form have none.
struct Invariant {
  Ensure stated;          ///< its target holds this once the ops before have run, and no others
  uint32_t opsBefore = 0; ///< how many ops of this rank the text issues before
  std::string iteration;  ///< "s = 2": the loops around it, from the outermost one on
  bool operator==(const Invariant &) const = default;
};

struct Contract {
  std::vector<Ensure> ensures;
  std::vector<EntryValue> operands;  ///< of ensures and invariants
  std::vector<Invariant> invariants; ///< in the order of the text, if they were asked for
  std::vector<OpId> programOrder;    ///< with invariants: the ops as the text issues them, unless
                                     ///< the DAG has them in that order

  std::span<const EntryValue> operandsOf(const Ensure &e) const {
    return {operands.data() + e.operandBegin, e.operandCount};
  }
  bool operator==(const Contract &) const = default;
};

} // namespace colldsl
