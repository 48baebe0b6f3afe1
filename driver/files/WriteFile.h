/// Atomic replacement of files.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace colldsl::driver {

/// Replaces `file` in one step, after `write` has printed everything to a temporary file. A failure
/// or a signal leaves the old content and removes the temporary file. Devices and pipes are written
/// in place, and so is standard output, "-". An error names the file, unless it is `write`'s.
Status writeFile(const std::string &file, llvm::function_ref<Status(llvm::raw_ostream &)> write);

/// True if both names denote one file, which need not exist, so that writing one would write the
/// other. False for standard input and output, for devices and for pipes.
bool isSameFile(const std::string &a, const std::string &b);

} // namespace colldsl::driver
