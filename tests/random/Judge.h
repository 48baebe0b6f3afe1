/// What the compiler and the verifier say of a program, compared with what happens.
#pragma once

#include "tests/random/Program.h"

#include <string>

namespace colldsl::generated {

enum class Outcome : uint8_t {
  Proved,          ///< and right in all orders tried
  RefusedRightly,  ///< by the compiler, instantiation or the verifier, and wrong
  RefusedHarmless, ///< by the verifier, though no order fails
  NotCompiled,     ///< though it has a meaning
  NotInstantiated, ///< though it has one
  Unsound,         ///< proved, but wrong
};
inline constexpr unsigned kOutcomes = 6;

struct Verdict {
  Outcome outcome = Outcome::Proved;
  std::string why; ///< the class of what was said, without names and numbers
  std::string details;
};

struct ChainVerdict {
  enum class Kind : uint8_t {
    None, ///< the program is not proved
    Proved,
    Unfit,   ///< a false announcement, which the verifier refuses
    Refused, ///< by a pass, with an error
    Broken,  ///< not proved any more
    Unsound, ///< proved, but wrong
  };
  Kind kind = Kind::None;
  std::string passes, why, details;
};
inline constexpr unsigned kChainKinds = 6;

/// `seed` is that of the orders that are tried. `chain`, if given, has a chain of passes run on
/// what is proved, as many chains as `chains` says.
Verdict judge(const Program &program, uint64_t seed, uint32_t chains = 0,
              std::vector<ChainVerdict> *chain = nullptr);

} // namespace colldsl::generated
