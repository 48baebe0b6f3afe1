#include "tools/lsp/Features.h"
#include "tools/lsp/Occurrences.h"

namespace colldsl::lsp {

Answer definition(const View &view, Position position) {
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
