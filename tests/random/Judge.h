/// What the compiler and the verifier say of a program, compared with what happens.
#pragma once

#include "ir/Schedule.h"
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

/// Orders in which a schedule is run on tokens: without any buffering, and with unlimited.
struct Trials {
  uint32_t unbuffered = 8;
  uint32_t buffered = 3;
};

/// What goes wrong in some order at the program's values; empty: nothing seen.
std::string faultOf(const Schedule &schedule, const Program &program, const Trials &trials,
                    uint64_t seed);

/// A message without what differs from program to program.
std::string classOf(const std::string &message);

/// `seed` is that of the orders that are tried. `chain`, if given, has a chain of passes run on
/// what is proved, as many chains as `chains` says.
Verdict judge(const Program &program, uint64_t seed, uint32_t chains = 0,
              std::vector<ChainVerdict> *chain = nullptr);

} // namespace colldsl::generated
