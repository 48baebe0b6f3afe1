/// Work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace colldsl::tools {

/// Calls work(i) for each i < count, on as many threads as there are cores, the largest i
/// first. Returns when all is done.
void forEachInParallel(size_t count, const std::function<void(size_t)> &work);

} // namespace colldsl::tools
