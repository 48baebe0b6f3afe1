/// JSON on standard output.
#pragma once

#include "tools/options/ResultStream.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

/// Text as valid UTF-8 for JSON: names from files need not be UTF-8.
inline std::string jsonText(llvm::StringRef text) { return llvm::json::fixUTF8(text); }

inline void printJson(llvm::json::Object object) {
  jsonStream() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}

} // namespace colldsl::tools
