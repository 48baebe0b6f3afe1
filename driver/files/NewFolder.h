/// Folders that appear in one step.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace colldsl::driver {

/// A folder that is made beside its place under another name, and gets its own name once it has all
/// its files. A failure, a signal or the lack of memory removes it. Threads: one; one folder of a
/// process at a time.
class NewFolder {
public:
  /// An error if there is something at `path` other than an empty folder.
  static Result<std::unique_ptr<NewFolder>> make(const std::string &path);
  ~NewFolder(); ///< removes it, unless finish() has succeeded
  NewFolder(const NewFolder &) = delete;
  NewFolder &operator=(const NewFolder &) = delete;

  /// Writes a new file: `name`, or `folder/name`, where the folder is made if it is not there.
  Status write(const std::string &name, llvm::StringRef text);
  /// Gives the folder its name.
  Status finish();

private:
  explicit NewFolder(std::string path) : path_(std::move(path)) {}
  Status makeFolder(const std::string &name);

  std::string path_, aside_;
};

/// Removes the folder that is not finished, if there is one. Async-signal-safe.
void removeUnfinishedFolder();

} // namespace colldsl::driver
