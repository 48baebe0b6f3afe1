/// All occurrences of a symbol, in the files that can see it.
#pragma once

#include "lsp/View.h"

#include <vector>

namespace colldsl::lsp {

struct Occurrence {
  std::string uri;
  std::string realPath; ///< of its file
  SourceLoc loc;
  Range range;
  bool isDeclaration = false;
};

/// Searches the document, the other open ones, their imports and, if other files can name the
/// symbol, the files of the workspace that contain its name. Sorted by file and place, each once.
std::vector<Occurrence> occurrencesOf(const View &view, const SymbolIndex::Symbol &symbol);

/// The source files below the workspace's folders that are not open and whose text contains the
/// name, as documents.
std::vector<Document> closedFilesWith(Context &context, llvm::StringRef name);

} // namespace colldsl::lsp
