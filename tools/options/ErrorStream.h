/// The stream for mistakes and remarks: standard error. It masks what is not printable.
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

llvm::raw_ostream &errorStream();

} // namespace colldsl::tools
