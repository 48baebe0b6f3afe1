/// Values to try for parameters without a default and a given value. No other place determines the
/// values with which `verify` proves such collectives.
#pragma once

#include "program/Program.h"

#include <string>
#include <vector>

namespace colldsl::driver {

/// Expressions of the language, for `ranks` ranks; the root of trees is `root`. Empty: there is
/// no trial value of that type.
std::vector<std::string> trialValues(ValueType type, uint32_t ranks, const std::string &root);

/// Graphs other than a torus: with open borders; with different degrees, parallel edges, loops and
/// ranks without edges. `more`: another one of these.
std::vector<std::string> irregularGraphs(bool more);

/// Other lengths of blocks, of which about every third is zero.
std::string moreBlockLengths();

/// The value of a size symbol other than n in a proof for n == elements.
uint64_t trialSize(uint64_t elements);

} // namespace colldsl::driver
