/// Streams for results on standard output, for people and as JSON. Data bypasses them: text of
/// schedules and sources, pages.
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

llvm::raw_ostream &resultStream();

/// Variant of resultStream() for JSON: it escapes what is not printable.
llvm::raw_ostream &jsonStream();

} // namespace colldsl::tools
