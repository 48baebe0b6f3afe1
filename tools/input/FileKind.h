/// What a file holds, told by its first bytes, not by its name.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace colldsl::tools {

enum class FileKind {
  Source, ///< .coll
  Text,   ///< the text form, or plain GOAL
  Image,
  Library, ///< a schedule library
};

FileKind fileKind(llvm::StringRef content);

} // namespace colldsl::tools
