/// Noise: detours that take the processors away from the ranks from time to time.
#pragma once

#include "ir/Result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace colldsl::sim {

struct Detour {
  uint64_t beginNs;
  uint64_t lengthNs;
  bool operator==(const Detour &) const = default;
};

struct NoiseOptions {
  enum class Kind {
    None,
    Periodic, ///< every periodNs one of lengthNs
    Random,   ///< a Poisson process: means periodNs between two, lengthNs each, both exponential
    Trace,    ///< the detours of `trace`, again and again every periodNs
  };
  Kind kind = Kind::None;
  uint64_t periodNs = 0;
  uint64_t lengthNs = 0;
  std::optional<uint64_t> phaseNs; ///< of all processors; nothing: each has one of its own
  std::vector<Detour> trace;       ///< ascending, apart from each other, within periodNs
};

/// Lines `BEGIN LENGTH` in ns, ascending; `period NS` on a line of its own says when it begins
/// again (without: where the last detour ends); # begins a comment.
Result<NoiseOptions> parseNoiseTrace(std::string_view text);

/// An error if detours take so much time that too little is left to work with.
Status checkNoise(const NoiseOptions &options);

/// A pseudorandom number between 0 and bound - 1 (0 if bound is 0), a function of the other three
/// arguments.
uint64_t drawBelow(uint64_t bound, uint64_t seed, uint64_t stream, uint64_t index);

/// The detours of all processors. Deterministic in the seed.
class Noise {
public:
  Noise(const NoiseOptions &options, uint64_t processors, uint64_t seed);

  /// The time at which work of so many ns, begun at `begin`, is done on a processor. Calls for one
  /// processor do not go back in time.
  uint64_t endOf(uint64_t processor, uint64_t begin, uint64_t workNs) {
    const State &state = states_[processor];
    if (state.end > begin && begin + workNs <= state.begin) [[likely]]
      return begin + workNs;
    return interruptedEnd(processor, begin, workNs);
  }

  /// Prefetches a processor's state.
  [[gnu::always_inline]] void fetch(uint64_t processor) const {
    __builtin_prefetch(states_.data() + processor, 1);
  }

private:
  /// The next detour that has not ended yet.
  struct State {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t index = 0; ///< detours before this one
  };
  uint64_t interruptedEnd(uint64_t processor, uint64_t begin, uint64_t workNs);
  void next(uint64_t processor, State &state) const;
  uint64_t exponential(uint64_t mean, uint64_t processor, uint64_t index) const;

  NoiseOptions options_;
  uint64_t seed_;
  std::vector<State> states_;
};

} // namespace colldsl::sim
