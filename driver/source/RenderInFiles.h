/// Diagnostics as text, with their places in the source.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace colldsl::driver {

using InputOf = llvm::function_ref<const llvm::MemoryBuffer *(llvm::StringRef file)>;

/// The diagnostic with its notes and hints, and for each place the line of the source with a caret,
/// if the file can be read. `files` as in Schedule::files; `inputOf` returns the content of a file
/// that was read already, or null.
std::string renderInFiles(const Diagnostic &diagnostic, const std::vector<std::string> &files,
                          InputOf inputOf);

/// "ring.coll:12:5", or nothing.
std::string placeWord(const SourceLoc &loc, const std::vector<std::string> &files);

} // namespace colldsl::driver
