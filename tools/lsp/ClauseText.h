/// The clauses of a collective in plain words.
#pragma once

#include <string>
#include <string_view>

namespace colldsl::lsp {

/// The clause of which a word is the keyword (`where`, `ensures`, `aliases`), as it is written and
/// what it states; empty: there is none. From tokens alone, so the text need not parse.
std::string describeClause(std::string_view text, size_t keyword, bool markdown);

} // namespace colldsl::lsp
