/// Conversion of positions and ranges from and to JSON.
#pragma once

#include "lsp/Positions.h"

#include "llvm/Support/JSON.h"

#include <optional>

namespace colldsl::lsp {

namespace json = llvm::json;

std::optional<Position> positionFrom(const json::Value &value);
std::optional<Range> rangeFrom(const json::Value &value);

json::Value toJson(const Position &position);
json::Value toJson(const Range &range);

/// A TextEdit that replaces a range.
json::Object textEdit(const Range &range, llvm::StringRef newText);

} // namespace colldsl::lsp
