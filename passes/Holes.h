/// Holes of a collective, as program passes look for them.
#pragma once

#include "passes/Pass.h"

namespace colldsl {

/// Whether the parameter has been given no value, and has a default: a hole is what a caller need
/// not fill.
bool isHole(const HoleContext &context, uint32_t param);

/// Those of that type.
std::vector<uint32_t> holesOf(const HoleContext &context, ValueType type);

/// What the program says may be chosen: each value of a list, both ends of a range in it; of an
/// interval the powers of two, for bytes from 1 KiB on, or its lower end if there are none. Empty:
/// it says nothing, or what it says has no value.
std::vector<HoleFilling> candidatesOf(const HoleContext &context, uint32_t param);

/// A filling as people read it: `16KiB`, `4`, `its candidate in line 12`.
std::string wordOf(const HoleContext &context, const HoleFilling &filling);

/// The parameters between a rank and the one that is farthest from it.
const LogGop &farthestFrom(Rank rank, const HoleContext &context);

/// Bytes of n elements of T.
uint64_t bytesOf(const HoleContext &context);

struct TreeFilling {
  GivenTree tree;
  std::string remark;
};

/// Every hole for a tree gets one from `make`, with the root that its default has. An error: that
/// is not known before the call.
Result<HoleOutcome> fillTrees(const HoleContext &context,
                              const std::function<TreeFilling(Rank root)> &make);

} // namespace colldsl
