/// Copies that only fill the target of a combine: the combine reads their sources instead.
///
///   copy x to y; recv z; combine z into y      y = x op z
#pragma once

#include "executor/Steps.h"

namespace colldsl {

/// Called between binding and running. Ignores plans that are too long for it.
void fuseCopies(const RankView &view, const Memory &memory, Steps &steps);

} // namespace colldsl
