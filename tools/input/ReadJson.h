/// JSON that others wrote.
#pragma once

#include "ir/Result.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace colldsl::tools {

/// An error says what is wrong with the text, hostile text included: brackets that are nested too
/// deep for the parser, which recurses.
Result<llvm::json::Value> readJson(llvm::StringRef text);

} // namespace colldsl::tools
