/// The traces of Chakra for the ranks of a job: NAME.0.et, NAME.1.et, ...
#pragma once

#include "ir/Result.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace colldsl::driver {

struct Traces {
  std::string name; ///< with its folder, without the number of a rank
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> ranks;
};

/// Reads the traces of all ranks, of which `file` is one. Ranks are those from 0 up to the first
/// that has no file. An error if the name has no number of a rank, or that rank is none of these.
Result<Traces> readTraces(const std::string &file);

/// The file of a rank.
std::string traceFile(llvm::StringRef name, size_t rank);

} // namespace colldsl::driver
