/// Files that are written whole or not at all.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace colldsl::tools {

/// What stood in `file` before stays until all that `write` prints is there; nothing is left of
/// what fails or is ended by a signal. What is no regular file, a device or a pipe, is written
/// as it is, and so is standard output, "-". An error names the file, unless it is `write`'s.
Status writeFile(const std::string &file, llvm::function_ref<Status(llvm::raw_ostream &)> write);

} // namespace colldsl::tools
