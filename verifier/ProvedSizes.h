/// The sizes for which a schedule is proved, beyond the one that was given.
#pragma once

#include "verifier/Verifier.h"

#include <optional>
#include <string>

namespace colldsl::proof {

/// The calls that a proof of a schedule stands for.
struct ProvedDomain {
  SizeClass sizes;
  /// Empty: the proof holds for all lengths of call-time blocks, or there are none. Else the reason
  /// why lengths are not proved; then the proof holds for none of them.
  std::string lengthsUndecided;
};

/// Ops times remainders: a second, or some ten.
inline constexpr uint64_t kSomeOps = 1 << 18, kManyOps = 1 << 22;

/// The sizes around n == sizeClass.elements, within the validity range, at which the schedule is
/// proved; nothing if it is not proved at n. For each remainder that n can have by the denominators
/// of slices, buffers and promises, both ends are proved; between two ends at which the proof
/// decides alike (see verifier/SizeDecisions.h) the proof is the same. If remainders times ops are
/// more than `mostOps`, or proofs differ too often, the result has fewer sizes than possible, at
/// worst n only. Lengths of call-time blocks may be any (verifyAllLengths()); if that is undecided,
/// the result is n only, with the reason.
std::optional<ProvedDomain> provedSizes(const Schedule &schedule, const VerifyOptions &options = {},
                                        uint64_t mostOps = kSomeOps);

} // namespace colldsl::proof
