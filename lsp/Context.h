/// The state of client and server that all features share.
#pragma once

#include "lsp/Positions.h"
#include "lsp/TemporaryFolder.h"
#include "lsp/Workspace.h"

namespace colldsl::lsp {

/// The capabilities of the client, from its `initialize`.
struct ClientAbilities {
  Encoding encoding = Encoding::Utf16;
  bool hoverMarkdown = false, completionMarkdown = false, signatureMarkdown = false;
  bool signatureOffsets = false; ///< labels of parameters are offsets in that of the signature
  bool nestedSymbols = false;    ///< DocumentSymbol rather than SymbolInformation
  bool relatedInformation = false;
  bool refreshesLenses = false; ///< workspace/codeLens/refresh
  bool showsDocuments = false;  ///< window/showDocument
  bool opensPages = false;      ///< it opens the result of colldsl.showCounterexample by itself
};

struct Context {
  ClientAbilities client;
  Workspace workspace;
  TemporaryFolder folder;         ///< of the library's text and of pages
  std::vector<std::string> roots; ///< folders of the workspace
};

} // namespace colldsl::lsp
