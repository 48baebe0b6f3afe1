#include "compiler/UnusedNames.h"

#include "ir/Concat.h"

#include <set>
#include <tuple>

namespace colldsl {
namespace {

/// Words before the name; empty: it needs no use.
const char *kindWord(SymbolKind kind) {
  switch (kind) {
  case SymbolKind::Parameter:
    return "parameter ";
  case SymbolKind::Local:
    return "name ";
  case SymbolKind::Declaration:
  case SymbolKind::Size:
  case SymbolKind::TypeVariable:
  case SymbolKind::LoopVariable:
  case SymbolKind::Label: // counterexamples name operations by it
    return "";
  }
  return "";
}

} // namespace

std::vector<Diagnostic> unusedNames(const SymbolIndex &symbols, uint16_t file) {
  std::set<std::tuple<uint16_t, uint32_t, uint16_t>> used;
  for (const SymbolIndex::Use &use : symbols.uses())
    used.insert({use.declared.file, use.declared.line, use.declared.column});
  std::vector<Diagnostic> warnings;
  for (const SymbolIndex::Symbol *symbol : symbols.symbolsIn(file)) {
    const SourceLoc &loc = symbol->loc;
    std::string_view kind = kindWord(symbol->kind);
    if (kind.empty() || symbol->name.starts_with('_') ||
        used.contains({loc.file, loc.line, loc.column}))
      continue;
    warnings.push_back(
        {Severity::Warning, loc, concat(kind, "'", symbol->name, "' is never used"), {}, {}});
  }
  return warnings;
}

} // namespace colldsl
