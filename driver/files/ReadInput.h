/// Whole inputs in memory: ordinary files, and streams, which can be read once only.
#pragma once

#include "ir/Result.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace colldsl::driver {

/// The descriptor that a name denotes: 0 for `-` and `/dev/stdin`, N for `/dev/fd/N`; else -1.
int descriptorNamed(llvm::StringRef name);

/// `name` as messages show it: `<stdin>` for `-`.
std::string shownName(llvm::StringRef name);

/// Reads an ordinary file, a pipe, a socket, a terminal or /dev/null to its end, and refuses other
/// devices and folders. Names as in descriptorNamed() are this process's own descriptors, read from
/// their present offset. A FIFO that no process opens for writing within 5 s, and a stream of more
/// than 4 GiB are errors. The buffer has the name of shownName() and an alignment of 64 bytes.
Result<std::unique_ptr<llvm::MemoryBuffer>> readInput(const std::string &name);

/// The whole text of an input.
Result<std::string> readText(const std::string &name);

} // namespace colldsl::driver
