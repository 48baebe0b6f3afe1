// A text rarely parses while a person types, and only a text that parses has names in scope. So
// namesAt() analyses the text as it is, then with a placeholder at the cursor, then without the
// statement at the cursor, and uses the first of these texts that has names. Otherwise it uses the
// last version of the document that had names, or the text without the declaration at the cursor.
// Example: "send x to |" becomes "send x to completed__;".
#include "lsp/Names.h"

#include "lsp/Structure.h"

#include <algorithm>

namespace colldsl::lsp {
namespace {

std::string withInserted(const std::string &text, size_t at, std::string_view what) {
  return text.substr(0, at) + std::string(what) + text.substr(at);
}

std::string withBlanks(std::string text, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (text[i] != '\n')
      text[i] = ' ';
  return text;
}

/// The text with blanks for the statement around the cursor, to the first of `ends` behind it.
std::string withoutStatement(const std::string &text, size_t cursor, const char *ends) {
  size_t begin = text.find_last_of(";{}", cursor > 0 ? cursor - 1 : 0);
  begin = begin == std::string::npos || begin >= cursor ? 0 : begin + 1;
  size_t end = std::min(text.find_first_of(ends, cursor), text.size());
  if (end < text.size() && text[end] == ';')
    ++end;
  return withBlanks(text, begin, end);
}

std::string withoutDeclaration(const std::string &text, size_t cursor) {
  Structure::Piece decl = Structure(text).declAround(cursor);
  return withBlanks(text, decl.begin, decl.end);
}

} // namespace

Names namesAt(const View &view, size_t word, size_t cursor) {
  const Document &document = view.document();
  Workspace &workspace = view.context().workspace;
  const std::string &text = document.text;
  if (document.analysis->hasNames() && word != cursor)
    return {document.analysis, cursor};
  std::string name(kPlaceholder);
  if (word == cursor)
    for (const std::string &what : {name, name + ";", name + "();", name + ") ;"}) {
      auto analysis = workspace.analyse(document.path, withInserted(text, cursor, what));
      if (analysis->hasNames())
        return {analysis, cursor};
    }
  for (const std::string &other :
       {withInserted(text, cursor, ";"), withoutStatement(text, cursor, "\n;{}"),
        withoutStatement(text, cursor, ";{}")})
    if (auto analysis = workspace.analyse(document.path, other); analysis->hasNames())
      return {analysis, cursor};
  if (document.named)
    return {document.named, cursor, false};
  auto analysis = workspace.analyse(document.path, withoutDeclaration(text, cursor));
  return {analysis->hasNames() ? analysis : nullptr, cursor, false};
}

} // namespace colldsl::lsp
