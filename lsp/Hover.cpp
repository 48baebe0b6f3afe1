#include "lsp/ClauseText.h"
#include "lsp/Features.h"
#include "lsp/LanguageWords.h"
#include "lsp/SymbolText.h"

namespace colldsl::lsp {
namespace {

/// Describes a word that is none of the text's own names.
std::string describeLanguageWord(const View &view, const View::Word &word) {
  bool markdown = view.context().client.hoverMarkdown;
  if (std::string clause = describeClause(view.document().text, word.begin, markdown);
      !clause.empty())
    return clause;
  std::optional<ValueType> base;
  std::optional<SourceLoc> place = view.placeOf(word);
  if (place)
    if (const SymbolIndex::Member *member = view.analysis().symbols.memberAt(*place))
      base = member->base;
  return describeWord(word.text, base);
}

} // namespace

Answer hover(const View &view, Position position) {
  View::Word word = view.wordAt(position);
  bool markdown = view.context().client.hoverMarkdown;
  const SymbolIndex::Symbol *symbol = view.symbolOf(word);
  std::string text =
      symbol ? describe(view.analysis(), *symbol, markdown) : describeLanguageWord(view, word);
  if (text.empty())
    return json::Value(nullptr);
  return json::Value(
      json::Object{{"contents", markup(text, markdown)}, {"range", toJson(view.rangeOf(word))}});
}

} // namespace colldsl::lsp
