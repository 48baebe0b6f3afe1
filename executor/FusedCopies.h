/// Copies that only make the target of a combine: the combine does them itself, piece by piece, so
/// that the target is in the cache when it is combined, and is written to memory once.
///
///   copy x to y; recv z; combine z into y      y = x, y = y op z, block by block
#pragma once

#include "executor/Steps.h"

namespace colldsl {

/// Between binding and running. Looks only at plans that are not too long for it.
void fuseCopies(const RankView &view, const Memory &memory, Steps &steps);

} // namespace colldsl
