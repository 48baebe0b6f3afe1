/// Copies that only make the target of a combine: the combine reads what they would have copied.
///
///   copy x to y; recv z; combine z into y      y = x op z
#pragma once

#include "executor/Steps.h"

namespace colldsl {

/// Between binding and running. Looks only at plans that are not too long for it.
void fuseCopies(const RankView &view, const Memory &memory, Steps &steps);

} // namespace colldsl
