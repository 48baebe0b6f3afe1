#include "simulator/Noise.h"

#include "ir/Concat.h"
#include "ir/Int128.h"
#include "ir/Numbers.h"

#include <algorithm>
#include <cmath>

namespace colldsl::sim {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

uint64_t draw(uint64_t seed, uint64_t stream, uint64_t index) {
  return mix(mix(mix(seed + 0x9e3779b97f4a7c15u) + stream) + 0x9e3779b97f4a7c15u * (index + 1));
}

constexpr uint64_t kPhaseStream = uint64_t{1} << 62;

std::optional<uint64_t> takeNumber(std::string_view &line) {
  return parseWhole<uint64_t>(takeWord(line));
}

bool isBlank(std::string_view line) { return takeWord(line).empty(); }

/// One line of a trace, without its comment.
Status readLine(std::string_view line, uint32_t number, NoiseOptions &into) {
  auto fail = [&](std::string why) {
    return Status::error({number, 1, 0}, concat("noise trace, line ", number, ": ", why));
  };
  if (isBlank(line))
    return {};
  bool isPeriod = line.starts_with("period ");
  if (isPeriod)
    line.remove_prefix(6);
  std::optional<uint64_t> first = takeNumber(line);
  std::optional<uint64_t> second = isPeriod ? 0 : takeNumber(line);
  if (!first || !second || !isBlank(line))
    return fail("expected 'BEGIN LENGTH' in ns, or 'period NS'");
  if (*first > UINT64_MAX / 4 || *second > UINT64_MAX / 4)
    return fail("the time is too large");
  if (isPeriod) {
    if (*first == 0)
      return fail("a period of 0 ns");
    if (into.periodNs != 0)
      return fail(concat("the period is given twice, as ", into.periodNs, " and ", *first, " ns"));
    into.periodNs = *first;
    return {};
  }
  if (!into.trace.empty() && *first < into.trace.back().beginNs + into.trace.back().lengthNs)
    return fail(concat("begins at ", *first, " ns, before the detour above ends"));
  into.trace.push_back({*first, *second});
  return {};
}

} // namespace

uint64_t drawBelow(uint64_t bound, uint64_t seed, uint64_t stream, uint64_t index) {
  return static_cast<uint64_t>((UInt128{draw(seed, stream, index)} * bound) >> 64);
}

Result<NoiseOptions> parseNoiseTrace(std::string_view text) {
  NoiseOptions options;
  options.kind = NoiseOptions::Kind::Trace;
  for (uint32_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (Status s = readLine(line.substr(0, line.find('#')), number, options); !s)
      return s;
  }
  if (options.trace.empty())
    return Status::error("noise trace: it has no detours");
  const Detour &last = options.trace.back();
  uint64_t end = last.beginNs + last.lengthNs;
  if (options.periodNs == 0)
    options.periodNs = end;
  if (options.periodNs < end)
    return Status::error(concat("noise trace: the last detour ends at ", end,
                                " ns, after the period of ", options.periodNs, " ns"));
  return options;
}

Status checkNoise(const NoiseOptions &options) {
  uint64_t busy = options.lengthNs;
  switch (options.kind) {
  case NoiseOptions::Kind::None:
    return {};
  case NoiseOptions::Kind::Trace:
    busy = 0;
    for (const Detour &detour : options.trace)
      busy += detour.lengthNs;
    [[fallthrough]];
  case NoiseOptions::Kind::Periodic:
    if (busy >= options.periodNs)
      return Status::error(concat("noise: detours of ", busy, " ns in each ", options.periodNs,
                                  " ns leave no time for work"));
    return {};
  case NoiseOptions::Kind::Random:
    if (options.periodNs == 0)
      return Status::error("noise: 0 ns between detours leave no time for work");
    return {};
  }
  return {};
}

Noise::Noise(const NoiseOptions &options, uint64_t processors, uint64_t seed)
    : options_(options), seed_(seed), states_(processors) {
  for (uint64_t p = 0; p < processors; ++p)
    next(p, states_[p]);
}

uint64_t Noise::exponential(uint64_t mean, uint64_t processor, uint64_t index) const {
  // (0, 1], so that the logarithm is finite.
  double uniform = (static_cast<double>(draw(seed_, processor, index) >> 11) + 1) * 0x1p-53;
  return static_cast<uint64_t>(-std::log(uniform) * static_cast<double>(mean));
}

/// Advances to the next detour.
void Noise::next(uint64_t processor, State &state) const {
  if (options_.kind == NoiseOptions::Kind::Random) {
    state.begin = state.end + exponential(options_.periodNs, processor, 2 * state.index);
    state.end = state.begin + exponential(options_.lengthNs, processor, 2 * state.index + 1);
    ++state.index;
    return;
  }
  bool isTrace = options_.kind == NoiseOptions::Kind::Trace;
  uint64_t perPeriod = isTrace ? options_.trace.size() : 1;
  Detour detour = isTrace ? options_.trace[state.index % perPeriod] : Detour{0, options_.lengthNs};
  uint64_t phase =
      options_.phaseNs.value_or(drawBelow(options_.periodNs, seed_, kPhaseStream, processor));
  // Detours before time zero are left out: the first period begins at the phase.
  state.begin = phase + state.index / perPeriod * options_.periodNs + detour.beginNs;
  state.end = state.begin + detour.lengthNs;
  ++state.index;
}

// A long rest is skipped at once, down to the last period or two. Random detours have to be
// drawn one by one.
uint64_t Noise::interruptedEnd(uint64_t processor, uint64_t begin, uint64_t workNs) {
  State &state = states_[processor];
  if (options_.kind != NoiseOptions::Kind::Random && begin > state.end + 2 * options_.periodNs) {
    uint64_t perPeriod = std::max<uint64_t>(1, options_.trace.size());
    state.index += (begin - state.end) / options_.periodNs * perPeriod - perPeriod;
    next(processor, state);
  }
  while (state.end <= begin)
    next(processor, state);
  if (state.begin < begin) { // in the middle of one
    begin = state.end;
    next(processor, state);
  }
  uint64_t end = begin + workNs;
  while (state.begin < end) {
    end += state.end - state.begin;
    next(processor, state);
  }
  return end;
}

} // namespace colldsl::sim
