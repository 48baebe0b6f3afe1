/// Colours of output on a terminal.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace colldsl::tools {

enum class Color : uint8_t { Bold, Red, Green, Yellow, Magenta, Cyan };

/// True if output on the descriptor is coloured: it is a terminal, NO_COLOR is not set, and TERM is
/// neither "dumb" nor missing; or CLICOLOR_FORCE is set. 1: standard output, 2: standard error.
bool hasColors(int descriptor);

/// The text in a colour; every Color except Bold is bold, too.
std::string colored(llvm::StringRef text, Color color);

/// Paints a line of diagnostics, without its end: the place and the message stand out, severities,
/// carets and hints have their colours. Other lines stay as they are.
std::string paintedDiagnostic(llvm::StringRef line);

/// Paints the verdict in a line about proofs: "proved", "refused".
std::string paintedVerdict(llvm::StringRef line);

} // namespace colldsl::tools
