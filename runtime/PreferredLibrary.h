/// A library that precedes another one: the functions that it may serve in its place.
#pragma once

#include "runtime/Library.h"

#include <set>
#include <string>

namespace colldsl {

/// Functions for which the library has a collective of that name, or rules, and for which all
/// collectives that these name can be called in place of those of the standard library, with the
/// same contract (CallInterface.h). So the answer depends on no rank and no call. `problem`: the
/// functions that it names and does not serve, and the reason; empty: none.
Result<std::set<std::string>> functionsOf(Library &preferred, Library &standard,
                                          std::string &problem);

} // namespace colldsl
