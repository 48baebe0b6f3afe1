/// Sizes of blocks that are known at call time only (T[k][*], T[k][<= m]), chosen such
/// that a schedule can be proved and run with them.
#pragma once

#include "instantiate/Instantiate.h"

namespace colldsl::driver {

/// The sizes of each rank at n == elements, the same for the same seed. Blocks that the
/// contract equates get the same length; of the others, a quarter are empty, and the
/// rest have up to 2n elements. Blocks lie in a random order, with gaps. An error: the
/// contract equates lengths that cannot be equal.
///
/// A Capacity block without a content at entry has the length that arrives there by the contract.
Result<std::vector<Sizes>> chooseSizes(const Schedule &schedule, uint64_t elements, uint64_t seed);

/// True if rank 0 has blocks whose lengths are known at call time only.
Result<bool> hasOpenBlocks(const Program &program, const InstantiateRequest &request);

} // namespace colldsl::driver
