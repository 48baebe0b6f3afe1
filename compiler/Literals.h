/// The values of literals: numbers, strings, doc comments.
#pragma once

#include "compiler/Ast.h"
#include "ir/Result.h"

#include <string>

namespace colldsl {

struct NumberValue {
  int64_t value = 0; ///< in bytes or nanoseconds if it has a unit
  ast::Unit unit = ast::Unit::None;
};

/// 12, 64KiB, 100ns. An error: an unknown unit, or a value beyond 63 bits.
Result<NumberValue> parseNumber(llvm::StringRef text, SourceLoc loc);

/// The text of a string in its quotes, with \" \\ \n \t replaced.
Result<std::string> parseString(llvm::StringRef quoted, SourceLoc loc);

/// The `///` lines that end directly above the last line of `before`: without the
/// slashes, the blank behind them and blanks at line ends; joined by newlines.
std::string docCommentAbove(llvm::StringRef before);

} // namespace colldsl
