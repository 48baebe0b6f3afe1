/// Which MPI a command uses.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/StringRef.h"

#include <span>
#include <string>

namespace colldsl::tools {

/// An MPI that there can be a library for.
struct KnownMpi {
  llvm::StringLiteral name; ///< as in libcolldsl-NAME.so
  llvm::StringLiteral title;
  llvm::StringLiteral library;         ///< what its programs need
  llvm::StringLiteral launcherLibrary; ///< what its launcher needs; empty: that is
                                       ///< known by its file's name
  llvm::StringLiteral launcherFile;    ///< or empty
};

/// Looks at every word of the command that is an executable file. Programs are known by the
/// libraries that they need, launchers too, or by the name of the file; scripts tell nothing. An
/// error where no word tells it, or where two differ.
Result<const KnownMpi *> whichMpi(std::span<const std::string> command);

} // namespace colldsl::tools
