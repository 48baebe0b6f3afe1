/// Parsing of JSON from other programs.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace colldsl::driver {

/// An error describes the mistake in the text. Safe for hostile text: brackets that are nested too
/// deep for the recursive parser are an error.
Result<llvm::json::Value> readJson(llvm::StringRef text);

} // namespace colldsl::driver
