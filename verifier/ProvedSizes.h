/// For which sizes a schedule is proved, not only at one.
#pragma once

#include "verifier/Verifier.h"

#include <optional>

namespace colldsl {

/// Ops times remainders: a second, or some ten.
inline constexpr uint64_t kSomeOps = 1 << 18, kManyOps = 1 << 22;

/// The sizes around n == sizeClass.elements, within the size class, at which the schedule is
/// proved; nothing if it is not proved at n. For each remainder that n can have by the denominators
/// of slices, buffers and promises it is proved at both ends; between two ends at which the proof
/// decides alike (see verifier/Decisions.h) it is the same proof. Where remainders times ops are
/// more than `mostOps`, and where proofs differ too often, fewer sizes than might be: in the end n
/// alone.
///
/// The lengths of blocks are known at call time only; of a schedule that has some nothing is proved
/// here, and its size class is returned.
std::optional<SizeClass> provedSizes(const Schedule &schedule, const VerifyOptions &options = {},
                                     uint64_t mostOps = kSomeOps);

} // namespace colldsl
