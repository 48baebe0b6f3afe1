/// The result of compiling the text of a document.
#pragma once

#include "compiler/Compile.h"
#include "compiler/SymbolIndex.h"

#include <memory>
#include <string>

namespace colldsl::lsp {

inline constexpr uint16_t kNoFile = 0xffff;

/// Immutable. Places are those of `text` and of the other files of the compilation.
struct Analysis {
  std::string path, text;
  uint16_t file = kNoFile; ///< the number of `path`; kNoFile: it was not read
  Compilation compilation;
  SymbolIndex symbols; ///< empty if some file does not parse

  bool hasNames() const { return !symbols.empty(); }
  const Program &program() const { return compilation.program(); }
  /// True if the compilation read that file, so that its diagnostics change with it.
  bool reads(const std::string &realPath) const;
  /// The declaration that a symbol is, or belongs to; null: none.
  const Decl *declOf(const SymbolIndex::Symbol &symbol) const;
};

/// Compiles the text. `options` include the texts of other open documents.
std::shared_ptr<const Analysis> analyse(const std::string &path, std::string text,
                                        CompileOptions options);

/// The canonical path, the same for all names of one file; `path` itself if there is no such file.
std::string realPathOf(const std::string &path);

} // namespace colldsl::lsp
