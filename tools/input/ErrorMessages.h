/// Messages on stderr.
#pragma once

#include "driver/Session.h"

namespace colldsl::tools {

using namespace driver; // commands speak of its requests and results

/// Prints messages on errorStream().
Sink &printer();

/// The session of the command.
Session &session();

/// Sink::error() and Sink::warn() of the printer.
bool printError(const llvm::Twine &message);
bool printError(const Diagnostic &diagnostic);
void printWarning(const llvm::Twine &message);

} // namespace colldsl::tools
