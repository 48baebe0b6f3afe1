/// The view of a document for a feature: its text, and its newest analysis that has names.
#pragma once

#include "lsp/Context.h"
#include "lsp/Shift.h"
#include "lsp/ToJson.h"

namespace colldsl::lsp {

/// While a text does not parse, the analysis is that of an earlier text. Places that have not
/// changed since are found in it.
class View {
public:
  /// Analyses the document if necessary. `context` and `document` outlive this object.
  View(Context &context, Document &document);

  /// A word of the document.
  struct Word {
    size_t begin = 0;
    std::string_view text;
  };
  /// The word at a position, or the one that ends there; empty: there is none.
  Word wordAt(Position position) const;
  Word wordAt(size_t offset) const;

  /// The place of the word in the analysed text; nothing if it is not there.
  std::optional<SourceLoc> placeOf(const Word &word) const;
  /// The symbol that a word is; null: none is known.
  const SymbolIndex::Symbol *symbolOf(const Word &word) const;

  Range rangeOf(const Word &word) const {
    return lines_.rangeOf(word.begin, word.begin + word.text.size(), encoding());
  }
  /// The present range of `bytes` bytes at a place of the analysed text; nothing if they were
  /// changed.
  std::optional<Range> rangeOf(SourceLoc loc, size_t bytes) const;
  /// A Location in any file of the analysis; nothing if there is none to open.
  std::optional<json::Value> locationOf(SourceLoc loc, size_t bytes) const;

  bool hasAnalysis() const { return analysis_ != nullptr; }
  const Analysis &analysis() const { return *analysis_; }
  /// True if the analysis is of the document's present text, without mistakes.
  bool isFine() const;
  Context &context() const { return context_; }
  const Document &document() const { return document_; }
  const Lines &lines() const { return lines_; }
  Encoding encoding() const { return context_.client.encoding; }

private:
  Context &context_;
  Document &document_;
  std::shared_ptr<const Analysis> analysis_; ///< null: none has names
  Lines lines_, analysed_;
  Shift shift_;
};

/// The URI of a file of an analysis: an open document, a file of the library or on the disk; empty:
/// there is none.
std::string uriOfFile(Context &context, const Analysis &analysis, uint16_t file);

} // namespace colldsl::lsp
