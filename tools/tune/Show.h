/// A machine profile for people.
#pragma once

#include "topology/MachineProfile.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

/// The costs, and a table of the decisions.
void printProfile(const MachineProfile &profile, llvm::raw_ostream &out);

/// Draws the winning collectives: a row for each function and number of ranks, a column for each
/// size.
void drawProfile(const MachineProfile &profile, llvm::raw_ostream &out);

/// "8 B..4 KiB", "64 KiB..", "all".
std::string bytesRange(uint64_t min, uint64_t max);

} // namespace colldsl::tools
