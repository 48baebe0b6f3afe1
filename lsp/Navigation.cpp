#include "compiler/Scanner.h"
#include "lsp/Features.h"
#include "lsp/Occurrences.h"
#include "lsp/Uri.h"

namespace colldsl::lsp {

namespace {

/// The path of the import at an offset, without quotes; empty: there is none.
llvm::StringRef importAt(const View &view, size_t offset) {
  std::string_view text = view.document().text;
  Result<std::vector<Token>> tokens = scan(text, 0, {});
  for (size_t i = 1; tokens && i < tokens->size(); ++i) {
    const Token &token = (*tokens)[i];
    size_t begin = static_cast<size_t>(token.text.data() - text.data());
    bool isImport = token.kind == TokenKind::String && (*tokens)[i - 1].text == "import";
    if (isImport && begin <= offset && offset <= begin + token.text.size())
      return llvm::StringRef(token.text).drop_front().drop_back();
  }
  return {};
}

/// The location of the file that the import at a position names; nothing: there is none.
std::optional<json::Value> importedFile(const View &view, Position position) {
  llvm::StringRef path = importAt(view, view.lines().offsetOf(position, view.encoding()));
  Workspace &workspace = view.context().workspace;
  std::string file = path.empty() ? "" : workspace.importedFile(path, view.document());
  if (file.empty())
    return std::nullopt;
  const Document *open = workspace.findPath(realPathOf(file));
  return json::Object{{"uri", open ? open->uri : uriOf(file)}, {"range", toJson(Range{})}};
}

} // namespace

Answer definition(const View &view, Position position) {
  if (std::optional<json::Value> file = importedFile(view, position))
    return std::move(*file);
  const SymbolIndex::Symbol *symbol = view.symbolOf(view.wordAt(position));
  if (!symbol)
    return json::Value(nullptr);
  std::optional<json::Value> location = view.locationOf(symbol->loc, symbol->name.size());
  return location ? std::move(*location) : json::Value(nullptr);
}

Answer references(const View &view, Position position, bool withDeclaration) {
  const SymbolIndex::Symbol *symbol = view.symbolOf(view.wordAt(position));
  if (!symbol)
    return json::Value(nullptr);
  json::Array all;
  for (const Occurrence &occurrence : occurrencesOf(view, *symbol))
    if (withDeclaration || !occurrence.isDeclaration)
      all.push_back(json::Object{{"uri", occurrence.uri}, {"range", toJson(occurrence.range)}});
  return json::Value(std::move(all));
}

} // namespace colldsl::lsp
