/// Values to try for parameters that have no default and were given none: the one place
/// that says what `verify` proves such collectives with.
#pragma once

#include "program/Program.h"

#include <string>
#include <vector>

namespace colldsl::tools {

/// Expressions of the language, for `ranks` ranks; the root of trees is `root`. Empty: there is
/// no trial value of that type.
std::vector<std::string> trialValues(ValueType type, uint32_t ranks, const std::string &root);

/// Graphs that are no torus: open borders; and degrees that differ, parallel edges, edges to
/// oneself and ranks without edges. `more`: another one of these.
std::vector<std::string> irregularGraphs(bool more);

/// Other lengths of blocks, of which about every third is zero.
std::string moreBlockLengths();

/// For a size symbol other than n, as the proof of n elements takes it.
uint64_t trialSize(uint64_t elements);

} // namespace colldsl::tools
