/// The clauses of a collective in plain words.
#pragma once

#include <string>
#include <string_view>

namespace colldsl::lsp {

/// The clause with its keyword (`where`, `ensures`, `aliases`) at the offset: its text, then its
/// meaning; empty: there is none. It uses tokens alone, so the text need not parse.
std::string describeClause(std::string_view text, size_t keyword, bool markdown);

} // namespace colldsl::lsp
