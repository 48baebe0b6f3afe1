/// Detection of the MPI that a command uses.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <span>
#include <string>

namespace colldsl::tools {

/// The features that identify a launcher: it has all of these that are not empty.
struct KnownLauncher {
  llvm::StringRef library; ///< a library that it needs
  llvm::StringRef file;    ///< its name, with links followed
  llvm::StringRef text;    ///< a text in the file
};

/// An MPI for which colldsl can have a library.
struct KnownMpi {
  llvm::StringLiteral name; ///< as in libcolldsl-NAME.so
  llvm::StringLiteral title;
  llvm::StringLiteral library;             ///< the library that its programs need
  llvm::ArrayRef<KnownLauncher> launchers; ///< none: the launchers of all others
};

/// Examines every word of the command that is an executable file: programs by the libraries that
/// they need, launchers as in `KnownLauncher`. If none tells, it examines the words that a shell
/// would see in the command's words, such as the one behind `sh -c`, and in its scripts. Programs
/// of the standard ABI fit any launcher. An error if no word tells, or if two differ.
Result<const KnownMpi *> whichMpi(std::span<const std::string> command);

} // namespace colldsl::tools
