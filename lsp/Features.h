/// The requests about a document, a file each. They change no state.
#pragma once

#include "lsp/Rpc.h"
#include "lsp/View.h"

namespace colldsl::lsp {

/// The description of a word: declaration, contract and documentation, or the language's reference.
Answer hover(const View &view, Position position);

/// The location of a name's declaration, which may be in the standard library's text.
Answer definition(const View &view, Position position);
/// The occurrences in all open documents, their imports, and the files of the workspace.
Answer references(const View &view, Position position, bool withDeclaration);

Answer prepareRename(const View &view, Position position);
/// Fails if the new name would change the meaning of some name.
Answer rename(const View &view, Position position, const std::string &newName);

/// Completions: names in scope at a position, and words that may stand there.
Answer completion(const View &view, Position position);

/// The parameters of the call around a position, and the active one among them.
Answer signatureHelp(const View &view, Position position);

/// Formats the document as `colldsl fmt` does.
Answer formatting(const Document &document, Encoding encoding, const ParseLimits &limits);

/// The declarations with their parameters.
Answer documentSymbols(const View &view);

} // namespace colldsl::lsp
