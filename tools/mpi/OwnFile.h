/// Search for files of colldsl for one MPI, in the folders of the build and the installation.
#pragma once

#include "tools/mpi/WhichMpi.h"

#include <initializer_list>

namespace colldsl::tools {

/// The path of `name` in the first folder that has it. Folders are relative to the parent of the
/// folder of this program. An error has the paths that were tried, and the package of `mpi`.
Result<std::string> ownFile(const KnownMpi &mpi, llvm::StringRef name,
                            std::initializer_list<llvm::StringRef> folders);

} // namespace colldsl::tools
