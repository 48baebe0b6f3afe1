/// The names that are in scope at a place of a text that is being typed.
#pragma once

#include "tools/lsp/View.h"

namespace colldsl::lsp {

/// A name that stands for what is not typed yet.
inline constexpr std::string_view kPlaceholder = "completed__";

/// A text in which the cursor has a place, and its names.
struct Names {
  std::shared_ptr<const Analysis> analysis; ///< null: no version of the document had names
  size_t cursor = 0;                        ///< in its text
  bool isWhole = true; ///< of this text; else the places behind the cursor may have moved
};

/// `word` is the beginning of the word that is typed at the cursor.
Names namesAt(const View &view, size_t word, size_t cursor);

} // namespace colldsl::lsp
