#include "tools/mpi/OwnFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

std::string packageOf(const KnownMpi &mpi) {
  std::string package = "colldsl-" + mpi.name.str();
  std::replace(package.begin(), package.end(), '_', '-');
  return package;
}

} // namespace

Result<std::string> ownFile(const KnownMpi &mpi, llvm::StringRef name,
                            std::initializer_list<llvm::StringRef> folders) {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, nullptr), tried;
  llvm::StringRef prefix = llvm::sys::path::parent_path(llvm::sys::path::parent_path(program));
  for (llvm::StringRef folder : folders) {
    llvm::SmallString<256> path = prefix;
    llvm::sys::path::append(path, folder, name);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
    tried += (tried.empty() ? "" : " and no ") + path.str().str();
  }
  return Status::error("there is no " + tried + " (the package " + packageOf(mpi) + " has it)");
}

} // namespace colldsl::tools
