/// Files for the client to open, as long as the server runs.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace colldsl::lsp {

/// The folder is made at the first use and removed with this object. The process holds a lock on it
/// (flock), which tells others that the process lives.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Removes folders of this user whose process has died.
  static void removeAbandoned();

  /// The path of a file of the standard library ("stdlib/trees.coll"), read-only.
  Result<std::string> libraryFile(llvm::StringRef name);
  /// A path for a page to write; equal names give equal paths.
  Result<std::string> page(llvm::StringRef name);
  /// True if the path is that of a file in this folder.
  bool holds(llvm::StringRef path) const;

private:
  Status make();
  static std::string realPath(llvm::StringRef path);

  std::string path_; ///< empty: not made yet
  int lock_ = -1;
};

} // namespace colldsl::lsp
