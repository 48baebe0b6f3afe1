/// Parallel loops on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace colldsl::driver {

/// Calls work(i) for each i < count, the largest i first, on as many threads as there are cores.
/// Returns when all calls have returned.
void forEachInParallel(size_t count, const std::function<void(size_t)> &work);

} // namespace colldsl::driver
