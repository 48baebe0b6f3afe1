/// The texts of the standard library, built into the program.
#pragma once

#include <span>
#include <string_view>

namespace colldsl {

/// One *.coll file of this folder.
struct StdlibFile {
  std::string_view name; ///< from the top of the source tree: "stdlib/trees.coll"
  std::string_view text;
};

/// All files, sorted by name. They know each other without imports, in any order.
std::span<const StdlibFile> stdlibFiles();

/// selection.rules: which collective serves a function.
std::string_view selectionRules();

/// proofs.txt: what is proved about which text.
std::string_view stdlibProofs();

} // namespace colldsl
