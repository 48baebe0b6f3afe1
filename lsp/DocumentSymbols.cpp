#include "driver/source/DeclText.h"
#include "lsp/Features.h"
#include "lsp/Structure.h"

namespace colldsl::lsp {
namespace {

/// The protocol's SymbolKind.
enum : int {
  kClassSymbol = 5,
  kFunctionSymbol = 12,
  kVariableSymbol = 13,
  kStructSymbol = 23,
  kMethodSymbol = 6
};

int kindNumber(DeclKind kind) {
  switch (kind) {
  case DeclKind::Collective:
    return kFunctionSymbol;
  case DeclKind::Tree:
    return kClassSymbol;
  case DeclKind::Graph:
    return kStructSymbol;
  case DeclKind::Function:
    return kMethodSymbol;
  }
  return kFunctionSymbol;
}

json::Object symbolObject(const std::string &name, int kind, const std::string &detail,
                          json::Value range, json::Value selection) {
  return json::Object{{"name", json::fixUTF8(name)},
                      {"kind", kind},
                      {"detail", json::fixUTF8(detail)},
                      {"range", std::move(range)},
                      {"selectionRange", std::move(selection)}};
}

json::Array parameterSymbols(const View &view, const Decl &decl) {
  json::Array all;
  for (const Param &param : decl.params) {
    const std::string &name = view.analysis().program().nameOf(param);
    if (std::optional<Range> range = view.rangeOf(param.loc, name.size()))
      all.push_back(symbolObject(name, kVariableSymbol, "", toJson(*range), toJson(*range)));
  }
  return all;
}

} // namespace

Answer documentSymbols(const View &view) {
  json::Array all;
  if (!view.hasAnalysis())
    return json::Value(std::move(all));
  const Analysis &analysis = view.analysis();
  Structure structure(view.document().text);
  for (const Decl &decl : analysis.program().decls) {
    const std::string &name = analysis.program().nameOf(decl);
    std::optional<Range> selection;
    if (decl.loc.file == analysis.file)
      selection = view.rangeOf(decl.loc, name.size());
    if (!selection)
      continue;
    Structure::Piece piece =
        structure.declAround(view.lines().offsetOf(selection->start, view.encoding()));
    Range whole = view.lines().rangeOf(piece.begin, piece.end, view.encoding());
    if (!view.context().client.nestedSymbols) {
      all.push_back(json::Object{
          {"name", json::fixUTF8(name)},
          {"kind", kindNumber(decl.kind)},
          {"location", json::Object{{"uri", view.document().uri}, {"range", toJson(whole)}}}});
      continue;
    }
    json::Object object =
        symbolObject(name, kindNumber(decl.kind), driver::kindWord(decl.kind).str(), toJson(whole),
                     toJson(*selection));
    object["children"] = parameterSymbols(view, decl);
    all.push_back(std::move(object));
  }
  return json::Value(std::move(all));
}

} // namespace colldsl::lsp
