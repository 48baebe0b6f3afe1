/// Holes of a collective, as program passes look for them.
#pragma once

#include "passes/Pass.h"

namespace colldsl {

/// Parameters of that type which have been given no value, and that have a default: a hole is what
/// a caller need not fill.
std::vector<uint32_t> holesOf(const HoleContext &context, ValueType type);

/// The one called so, if it is a hole.
std::optional<uint32_t> holeNamed(const HoleContext &context, std::string_view name,
                                  ValueType type);

/// What the parameter `root` will be; 0 for a collective without one. An error: it is known to
/// the caller alone.
Result<Rank> rootOf(const HoleContext &context);

/// The smallest and largest value that an interval of candidates allows; 0 and no end without one.
std::pair<uint64_t, uint64_t> intervalOf(const HoleContext &context, uint32_t param);

/// The parameters between a rank and the one that is farthest from it.
const LogGop &farthestFrom(Rank rank, const HoleContext &context);

/// Bytes of n elements of T.
uint64_t bytesOf(const HoleContext &context);

/// Every hole for a tree gets this one.
HoleOutcome fillTrees(const HoleContext &context, const std::string &expression,
                      std::string remark);

} // namespace colldsl
