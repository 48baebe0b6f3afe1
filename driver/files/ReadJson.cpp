#include "driver/files/ReadJson.h"

namespace colldsl::driver {
namespace {

/// The parser recurses, so brackets of a hostile text could use up the stack.
bool isNestedTooDeep(llvm::StringRef text) {
  constexpr unsigned kMaxDepth = 200;
  unsigned depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\')
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > kMaxDepth)
      return true;
    else if (!isString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return false;
}

} // namespace

Result<llvm::json::Value> readJson(llvm::StringRef text) {
  if (isNestedTooDeep(text))
    return Status::error("brackets are nested too deep");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return Status::error(llvm::toString(json.takeError()));
  return std::move(*json);
}

} // namespace colldsl::driver
