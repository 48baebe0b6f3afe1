/// Traffic by the levels of the machine, for people and as JSON.
#pragma once

#include "simulator/Traffic.h"
#include "tools/options/Json.h"

namespace colldsl::tools {

/// "same node", "other node, same switch", "other switch".
std::string crossingWord(const sim::Crossing &crossing);

/// A table with a row per level.
void printTraffic(const sim::Traffic &traffic, const Topology &topology, llvm::raw_ostream &out);

/// One object per level, from the node outwards: `crosses` and `within` (levels, or null),
/// `messages`, `bytes` (a string of digits beyond 64 bits).
llvm::json::Array trafficJson(const sim::Traffic &traffic, const Topology &topology);

} // namespace colldsl::tools
