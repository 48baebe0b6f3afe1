/// target = target op source, element by element, for every reduction and type.
#pragma once

#include "ir/Result.h"
#include "ir/Vocabulary.h"

#include <cstddef>
#include <cstdint>

namespace colldsl {

/// Reduces `bytes` bytes, a whole number of elements, of any alignment. The two
/// ranges are the same or disjoint.
using ReduceFunction = void (*)(std::byte *target, const std::byte *source, uint64_t bytes);

/// Integers wrap around. Logical operators give 0 or 1 and work on all types,
/// bitwise ones on integers, matmul (2x2 matrices over Z/256, rows first, a byte per
/// entry) on types of four bytes. Anything else is an error.
Result<ReduceFunction> findReduction(Reduction reduction, ElementType type, Side side);

} // namespace colldsl
