/// Texts about a symbol, for people.
#pragma once

#include "compiler/Scanner.h"
#include "lsp/View.h"

#include <span>

namespace colldsl::lsp {

/// The text of the file in which the symbol is declared.
std::string_view textOfFile(const Analysis &analysis, uint16_t file);

/// The part of the text around a place: a parameter, a statement, a clause.
std::string partAt(const Analysis &analysis, SourceLoc loc);

/// One line: "collective, stdlib/bcast.coll:35", "a rank".
std::string kindOf(const Analysis &analysis, const SymbolIndex::Symbol &symbol);

/// The declaration as it is written, its documentation and its place, as `colldsl list NAME` prints
/// them. In Markdown, or as plain text.
std::string describe(const Analysis &analysis, const SymbolIndex::Symbol &symbol, bool markdown);

/// The code as a block of Markdown, or as it is.
std::string fenced(const std::string &code, bool markdown);

/// Tokens as they are written, in one line: one blank for each gap between them.
std::string oneLine(std::span<const Token> tokens);

/// MarkupContent.
json::Object markup(const std::string &text, bool markdown);

} // namespace colldsl::lsp
