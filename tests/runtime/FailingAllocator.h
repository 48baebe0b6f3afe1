/// Allocations by operator new that fail when a test wants it. A program that links this has all
/// its allocations here.
#pragma once

#include <cstdint>

namespace colldsl::test {

/// So many allocations of this thread succeed before one fails; negative: all succeed.
extern thread_local int64_t allocationsUntilFailure;

} // namespace colldsl::test
