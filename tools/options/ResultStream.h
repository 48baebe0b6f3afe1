/// Where results that people read are printed: on the standard output, as tables and lines. Data
/// goes there as it is: text of schedules and sources, pages.
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

llvm::raw_ostream &resultStream();

/// The same for JSON.
llvm::raw_ostream &jsonStream();

} // namespace colldsl::tools
