/// The proof of a callee for every number of ranks, on which a call rests.
#pragma once

#include <cstdint>
#include <set>

namespace colldsl::parameterized {

/// The ranks of which a rank has heard at the end of a collective: those whose start it has waited
/// for.
enum class Heard : uint8_t {
  All,
  Below, ///< those below it in the collective's tree
  Root,  ///< the root of that, and of which the root had heard before
};

struct CalleeProof {
  bool isRestricted; ///< to operators that commute
  std::set<Heard> heard;
};

} // namespace colldsl::parameterized
