/// Whole inputs in memory: ordinary files, and streams, which can be read once only.
#pragma once

#include "ir/Result.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace colldsl::tools {

/// The descriptor that a name stands for: 0 of `-` and `/dev/stdin`, N of `/dev/fd/N`; else -1.
int descriptorNamed(llvm::StringRef name);

/// `name` as messages show it: `<stdin>` for `-`.
std::string shownName(llvm::StringRef name);

/// Reads an ordinary file, a pipe, a socket, a terminal or /dev/null to its end; other devices and
/// folders are refused. Names as in descriptorNamed() are this process's own descriptors, which
/// are read from where they are. A FIFO that no process opens for writing within 5 s, and a stream
/// of more than 4 GiB are errors. The buffer is named as shownName() has it and aligned to 64.
Result<std::unique_ptr<llvm::MemoryBuffer>> readInput(const std::string &name);

} // namespace colldsl::tools
