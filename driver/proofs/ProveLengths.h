/// The proofs of one schedule at one n: for all lengths that blocks [*] and [<= m] may have, or for
/// a sample of them.
#pragma once

#include "verifier/Verifier.h"

namespace colldsl::driver {

struct LengthProofs {
  enum class Lengths : uint8_t {
    None, ///< no block has a length that the call chooses
    All,
    Some, ///< kSomeLengths: there is no proof for all
  };
  proof::VerifyReport report; ///< the first that fails; else `compared` is the union of all
  std::vector<Sizes> sizes;   ///< of the report
  Lengths lengths = Lengths::None;
};

/// The sample of lengths, in words. It serves schedules whose ops divide blocks, or whose lists
/// reorder them.
inline constexpr const char *kSomeLengths =
    "lengths of blocks: all 0, none 0, one 0, one not 0, and 3 at random";

/// The report includes the lengths that chooseSizes() makes of `seed`. An error: the contract
/// equates lengths that cannot be equal.
Result<LengthProofs> proveLengths(const Schedule &schedule, uint64_t elements, uint64_t seed,
                                  const proof::VerifyOptions &options);

} // namespace colldsl::driver
