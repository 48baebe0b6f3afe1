/// The names in scope at a place of an unfinished text.
#pragma once

#include "lsp/View.h"

namespace colldsl::lsp {

/// A placeholder for the part of a name that is not typed yet.
inline constexpr std::string_view kPlaceholder = "completed__";

/// The names of a text, and the place of the cursor in it.
struct Names {
  std::shared_ptr<const Analysis> analysis; ///< null: no version of the document had names
  size_t cursor = 0;                        ///< in its text
  bool isWhole = true; ///< false: places behind the cursor may have moved since
};

/// `word` is the offset of the word at the cursor.
Names namesAt(const View &view, size_t word, size_t cursor);

} // namespace colldsl::lsp
