/// A library that comes before another one: which functions it may serve in its place.
#pragma once

#include "runtime/Library.h"

#include <set>
#include <string>

namespace colldsl {

/// Functions for which the library has a collective of that name, or rules, and all collectives
/// that these name can be called in place of those of the standard library, with the same contract
/// (CallInterface.h). So it depends on no rank and no call whether the library serves a function.
/// `problem`: which functions it names and does not serve, and why; empty: none.
Result<std::set<std::string>> functionsOf(Library &preferred, Library &standard,
                                          std::string &problem);

} // namespace colldsl
