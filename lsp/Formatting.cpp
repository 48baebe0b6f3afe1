#include "driver/source/FormatText.h"
#include "lsp/Features.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>

namespace colldsl::lsp {
namespace {

/// One edit of the lines that differ, which leaves the cursor and folds elsewhere alone.
json::Array editsBetween(const std::string &before, const std::string &after, Encoding encoding) {
  if (before == after)
    return json::Array{};
  auto lineBegin = [](std::string_view text, size_t at) {
    size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
  };
  size_t most = std::min(before.size(), after.size()), prefix = 0, suffix = 0;
  while (prefix < most && before[prefix] == after[prefix])
    ++prefix;
  prefix = lineBegin(before, prefix);
  while (suffix < most - prefix &&
         before[before.size() - suffix - 1] == after[after.size() - suffix - 1])
    ++suffix;
  std::string_view tail = std::string_view(before).substr(before.size() - suffix);
  size_t newline = tail.find('\n'); // whole lines at the end, too
  suffix = newline == std::string_view::npos ? 0 : suffix - newline - 1;
  Lines lines(before);
  std::string_view by = std::string_view(after).substr(prefix, after.size() - suffix - prefix);
  return json::Array{textEdit(lines.rangeOf(prefix, before.size() - suffix, encoding),
                              llvm::StringRef(by.data(), by.size()))};
}

} // namespace

Answer formatting(const Document &document, Encoding encoding, const ParseLimits &limits) {
  std::vector<Diagnostic> errors;
  std::optional<std::string> formatted = driver::formatText(document.text, limits, errors);
  if (formatted)
    return json::Value(editsBetween(document.text, *formatted, encoding));
  const Diagnostic &error = errors.front();
  return failed("only text that parses is formatted; line " + std::to_string(error.loc.line) +
                ": " + error.message);
}

} // namespace colldsl::lsp
