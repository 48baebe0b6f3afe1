/// The page: scripts and data in one file, which fetches nothing.
#pragma once

#include "show/Columns.h"

#include "llvm/Support/raw_ostream.h"

#include <span>
#include <string_view>

namespace colldsl::show {

/// A file of web/, built into the program.
struct WebFile {
  std::string_view name; ///< "style.css"
  std::string_view text;
};
std::span<const WebFile> webFiles();

/// `document`: see docs/show.md; its member "columns" is added here.
void writePage(llvm::json::Object document, const Columns &columns, llvm::raw_ostream &out);

} // namespace colldsl::show
