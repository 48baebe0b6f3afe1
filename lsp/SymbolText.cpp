#include "lsp/SymbolText.h"

#include "driver/source/DeclText.h"
#include "lsp/Structure.h"

#include "llvm/ADT/StringRef.h"

namespace colldsl::lsp {

std::string fenced(const std::string &code, bool markdown) {
  return markdown ? "```colldsl\n" + code + "\n```" : code;
}

std::string oneLine(std::span<const Token> tokens) {
  std::string line;
  const char *end = nullptr;
  for (const Token &token : tokens) {
    bool isGap = !line.empty() && token.text.data() != end;
    line += (isGap ? " " : "") + std::string(token.text);
    end = token.text.data() + token.text.size();
  }
  return line;
}

std::string_view textOfFile(const Analysis &analysis, uint16_t file) {
  return file == analysis.file ? std::string_view(analysis.text)
                               : analysis.compilation.sourceText(file);
}

std::string partAt(const Analysis &analysis, SourceLoc loc) {
  std::string_view text = textOfFile(analysis, loc.file);
  Structure structure(text);
  Structure::Piece part = structure.partAround(Lines(text).offsetOf(loc));
  return std::string(text.substr(part.begin, part.end - part.begin));
}

std::string kindOf(const Analysis &analysis, const SymbolIndex::Symbol &symbol) {
  const Decl *decl = analysis.declOf(symbol);
  std::string of = decl ? " of " + analysis.program().nameOf(*decl) : "";
  switch (symbol.kind) {
  case SymbolKind::Declaration:
    return decl ? driver::kindWord(decl->kind).str() + ", " +
                      driver::placeOf(analysis.program(), *decl)
                : "";
  case SymbolKind::Parameter:
    return "parameter" + of + ": " + colldsl::describe(symbol.type);
  case SymbolKind::Size:
    return "size" + of + ", the number of elements in a dimension: an int";
  case SymbolKind::TypeVariable:
    return "type variable" + of + ": any type of elements";
  case SymbolKind::Local:
  case SymbolKind::LoopVariable:
    return colldsl::describe(symbol.type);
  case SymbolKind::Label:
    return "label";
  }
  return "";
}

std::string describe(const Analysis &analysis, const SymbolIndex::Symbol &symbol, bool markdown) {
  const Decl *decl = analysis.declOf(symbol);
  bool isDecl = symbol.kind == SymbolKind::Declaration && decl;
  std::string text = fenced(isDecl ? driver::headOf(textOfFile(analysis, decl->loc.file), *decl)
                                   : partAt(analysis, symbol.loc),
                            markdown);
  if (isDecl && !analysis.program().strings[decl->doc].empty())
    text += "\n\n" + analysis.program().strings[decl->doc];
  return text + "\n\n" + kindOf(analysis, symbol);
}

json::Object markup(const std::string &text, bool markdown) {
  return json::Object{{"kind", markdown ? "markdown" : "plaintext"},
                      {"value", json::fixUTF8(text)}};
}

} // namespace colldsl::lsp
