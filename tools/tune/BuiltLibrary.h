/// The standard library as processes without a compiler load it, for `colldsl tune` to measure.
#pragma once

#include "program/library/Library.h"
#include "topology/MachineProfile.h"

#include "llvm/Support/MemoryBuffer.h"

namespace colldsl::tools {

struct BuiltLibrary {
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  std::unique_ptr<Library> library; ///< a view of them, with program and rules decoded

  /// Another view of the library, with the decisions of a profile.
  Result<std::unique_ptr<Library>> tuned(const MachineProfile &profile) const;
};

/// Compiles the standard library.
Result<BuiltLibrary> buildStandardLibrary();

} // namespace colldsl::tools
