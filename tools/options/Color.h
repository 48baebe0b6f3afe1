/// Colours of what people read on a terminal.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace colldsl::tools {

enum class Color : uint8_t { Bold, Red, Green, Yellow, Magenta, Cyan };

/// Whether what this process prints there is coloured: a terminal, unless NO_COLOR is set or TERM
/// is "dumb"; anything, if CLICOLOR_FORCE is set. 1: the standard output, 2: the standard error.
bool hasColors(int descriptor);

/// The text in a colour, all but colours bold as well.
std::string colored(llvm::StringRef text, Color color);

/// A line of diagnostics, without its end: the place and the message stand out, severities, carets
/// and hints have their colours. Others stay as they are.
std::string paintedDiagnostic(llvm::StringRef line);

/// A line that tells what came of proofs: "proved", "refused".
std::string paintedVerdict(llvm::StringRef line);

} // namespace colldsl::tools
