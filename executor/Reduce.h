/// target = first op source, element by element, for every reduction and type.
#pragma once

#include "ir/Result.h"
#include "ir/Vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace colldsl {

/// Reduces `bytes` bytes, a whole number of elements, of any alignment. Any two of the three ranges
/// are equal or disjoint; mostly `first` is the target.
using ReduceFunction = void (*)(std::byte *target, const std::byte *first, const std::byte *source,
                                uint64_t bytes);

/// An error: elements of this type do not have this operator (ir/Operators.h).
Result<ReduceFunction> findReduction(Reduction reduction, ElementType type, Side side);

/// An operator on elements of a type that has it.
struct TypedReduction {
  Reduction reduction;
  ElementType type;
  bool operator==(const TypedReduction &) const = default;
};

/// An operator of the caller's, on elements of which a plan knows only the size. It must be
/// associative.
struct Combiner {
  /// target = first op source (After), or source op first (Before), for `bytes` bytes, a whole
  /// number of elements. Target and first are the same range or disjoint; the source is disjoint
  /// from both, or, if the combiner is pure, the target. Called by the thread that moves the plan,
  /// one thread at a time; throws nothing and calls no plan.
  using Apply = void (*)(std::byte *target, const std::byte *first, const std::byte *source,
                         uint64_t bytes, Side side, void *context);
  Apply apply = nullptr; ///< null: there is none
  void *context = nullptr;
  uint64_t elementBytes = 0; ///< at least 1
  /// True if the result depends on the operands alone: then any thread of the process may call it,
  /// also while messages move.
  bool isPure = false;
  /// An operator with the same results, which a device may apply instead; none: there is none.
  std::optional<TypedReduction> typed = {};

  explicit operator bool() const { return apply != nullptr; }
};

} // namespace colldsl
