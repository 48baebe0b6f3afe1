/// Contracts of generated collectives that have no meaning.
#pragma once

#include "tests/random/Program.h"

#include <string>

namespace colldsl::generated {

/// Why the contract has no meaning; empty: it may have one.
std::string contractFault(const Collective &collective);

} // namespace colldsl::generated
