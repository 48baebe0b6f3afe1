/// From text to syntax tree. The only user of ANTLR.
#pragma once

#include "compiler/Ast.h"
#include "compiler/ParseLimits.h"
#include "ir/Result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

/// A tree, or the reasons why there is none. The tree keeps copies: the text need not outlive it.
struct ParseResult {
  std::unique_ptr<Ast> ast; ///< null if there are errors
  std::vector<Diagnostic> errors;
};

/// Parses a whole file; `file` goes into the SourceLocs. Any text is safe: see
/// ParseLimits. May be called from several threads, which take turns.
ParseResult parseFile(std::string_view text, uint16_t file, const ParseLimits &limits = {});

struct ParsedExpr {
  std::unique_ptr<Ast> ast; ///< holds expr; null if there are errors
  const ast::Expr *expr = nullptr;
  std::vector<Diagnostic> errors;
};

/// Parses one expression, as `--set NAME=EXPR` gives it.
ParsedExpr parseExpression(std::string_view text, uint16_t file, const ParseLimits &limits = {});

/// All words of the grammar: keywords, and the values that have one.
std::vector<std::string> grammarWords();

} // namespace colldsl
