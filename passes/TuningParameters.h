/// Tuning parameters of a collective, as program passes look for them.
#pragma once

#include "passes/Pass.h"

namespace colldsl {

/// True if the parameter has a default and no value yet: a caller need not bind it.
bool isTuningParameter(const BindContext &context, uint32_t param);

/// The tuning parameters of that type.
std::vector<uint32_t> tuningParametersOf(const BindContext &context, ValueType type);

/// The values that the program allows: each value of a list, both ends of a range in it; of an
/// interval the powers of two, for bytes from 1 KiB on, or its lower end if there are none. Empty:
/// the program allows nothing, or the allowed expressions have no value.
std::vector<ParameterBinding> candidatesOf(const BindContext &context, uint32_t param);

/// A binding as people read it: `16KiB`, `4`, `its candidate in line 12`.
std::string wordOf(const BindContext &context, const ParameterBinding &binding);

/// The parameters between a rank and the one that is farthest from it.
const LogGop &farthestFrom(Rank rank, const BindContext &context);

/// Bytes of n elements of T.
uint64_t bytesOf(const BindContext &context);

struct TreeBinding {
  GivenTree tree;
  std::string remark;
};

/// Binds every tuning parameter for a tree to one from `make`, with the root that its default has.
/// An error: that root is not known before the call.
Result<BindOutcome> bindTrees(const BindContext &context,
                              const std::function<TreeBinding(Rank root)> &make);

} // namespace colldsl
