/// Which MPI a command uses.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <span>
#include <string>

namespace colldsl::tools {

/// What a launcher is known by: all of these that are not empty.
struct KnownLauncher {
  llvm::StringRef library; ///< that it needs
  llvm::StringRef file;    ///< its name, with links followed
  llvm::StringRef text;    ///< bytes that it has
};

/// An MPI that there can be a library for.
struct KnownMpi {
  llvm::StringLiteral name; ///< as in libcolldsl-NAME.so
  llvm::StringLiteral title;
  llvm::StringLiteral library;             ///< what its programs need
  llvm::ArrayRef<KnownLauncher> launchers; ///< none: the launchers of all others
};

/// Looks at every word of the command that is an executable file. Programs are known by the
/// libraries that they need, launchers as in `KnownLauncher`. Where there is neither, at the words
/// that a shell would see in the command's words, such as that behind `sh -c`, and in its scripts.
/// Programs of the standard ABI have any launcher. An error where it follows from no word, or where
/// two differ.
Result<const KnownMpi *> whichMpi(std::span<const std::string> command);

} // namespace colldsl::tools
