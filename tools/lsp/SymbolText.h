/// What people read of a symbol.
#pragma once

#include "tools/lsp/View.h"

namespace colldsl::lsp {

/// The text of the file in which the symbol is declared.
std::string_view textOfFile(const Analysis &analysis, uint16_t file);

/// One line: "collective, stdlib/bcast.coll:35", "a rank".
std::string kindOf(const Analysis &analysis, const SymbolIndex::Symbol &symbol);

/// As `colldsl list NAME` has it: the declaration as it is written, its documentation, its place.
/// In Markdown, or as plain text.
std::string describe(const Analysis &analysis, const SymbolIndex::Symbol &symbol, bool markdown);

/// MarkupContent.
json::Object markup(const std::string &text, bool markdown);

} // namespace colldsl::lsp
