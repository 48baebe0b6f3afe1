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

/// Whether both names are those of one file, which need not exist: writing one would write the
/// other. Of standard input and output, of devices and of pipes they are not.
bool isSameFile(const std::string &a, const std::string &b);

} // namespace colldsl::tools
