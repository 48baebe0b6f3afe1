/// Reductions by their definitions, one element after the other, to compare results of runs with.
/// Shares no code with the executor's reductions.
#pragma once

#include "ir/Result.h"
#include "ir/Vocabulary.h"

#include <cstddef>
#include <span>

namespace colldsl::tools {

/// left = left op right, element by element; both have the same size. An error: the
/// operator has no meaning for the type.
Status reduceInto(std::span<std::byte> left, std::span<const std::byte> right, Reduction reduction,
                  ElementType type);

} // namespace colldsl::tools
