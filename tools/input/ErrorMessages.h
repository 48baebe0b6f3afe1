/// Messages on stderr: mistakes, with their place in the source.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>
#include <vector>

namespace colldsl::tools {

/// "colldsl: error: message". Returns false, for `return report(...)`.
bool printError(const llvm::Twine &message);

/// "colldsl: warning: message".
void printWarning(const llvm::Twine &message);

/// Prints a diagnostic without a place in a source, with its hint. Returns false.
bool printError(const Diagnostic &diagnostic);
/// Variant of printError() that prints its notes too.
bool printWithNotes(const Diagnostic &diagnostic);

using InputOf = llvm::function_ref<const llvm::MemoryBuffer *(llvm::StringRef file)>;

/// The diagnostic with its notes and hints, and for each place the line of the source with a caret,
/// if the file can be read. `files` as in Schedule::files; `inputOf` returns the content of a file
/// that was read already, or null.
std::string renderInFiles(const Diagnostic &diagnostic, const std::vector<std::string> &files,
                          InputOf inputOf);

} // namespace colldsl::tools
