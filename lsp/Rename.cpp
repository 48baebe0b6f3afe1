// Renaming. rename() tries the edits: it analyses each file with the new name, and compares the
// meaning with that before. Example: it refuses to rename `i` to `k` in
// `for k in 0..2 { for i in 0..2 { ... k ... } }`: the use of `k` would refer to the inner loop.
#include "driver/files/StandardFiles.h"
#include "lsp/Features.h"
#include "lsp/LanguageWords.h"
#include "lsp/Occurrences.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <tuple>

namespace colldsl::lsp {
namespace {

/// The symbol to rename; null: `why` has the reason that the word cannot be renamed.
struct Target {
  const SymbolIndex::Symbol *symbol = nullptr;
  std::string why;
};

Target targetOf(const View &view, const View::Word &word) {
  std::string name(word.text);
  if (name.empty() || llvm::isDigit(name.front()))
    return {nullptr, "there is no name here"};
  if (!view.isFine())
    return {nullptr, "the text has errors; names can be renamed when it has none"};
  const SymbolIndex::Symbol *symbol = view.symbolOf(word);
  if (!symbol)
    return {nullptr, "'" + name + "' is a word of the language and cannot be renamed"};
  const std::string &file = view.analysis().program().files[symbol->loc.file];
  bool isLibrary = view.context().folder.holds(view.document().path) ||
                   driver::isStandard(symbol->loc.file, file);
  if (isLibrary)
    return {nullptr, "'" + name + "' belongs to the standard library and cannot be renamed"};
  return {symbol, ""};
}

bool isIdentifier(llvm::StringRef name) {
  auto isSign = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, isSign);
}

/// The meaning of a text: the number of symbols, then for each use the number of its symbol in the
/// order of the text, which renaming preserves.
std::vector<size_t> meaningOf(const Analysis &analysis) {
  std::vector<SourceLoc> symbols;
  for (size_t file = 0; file < analysis.program().files.size(); ++file)
    for (const SymbolIndex::Symbol *symbol :
         analysis.symbols.symbolsIn(static_cast<uint16_t>(file)))
      symbols.push_back(symbol->loc);
  auto isBefore = [](const SourceLoc &a, const SourceLoc &b) {
    return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
  };
  std::vector<size_t> meaning{symbols.size()};
  for (const SymbolIndex::Use &use : analysis.symbols.uses())
    meaning.push_back(
        static_cast<size_t>(llvm::lower_bound(symbols, use.declared, isBefore) - symbols.begin()));
  return meaning;
}

/// A file to change, with its edits.
struct Change {
  std::string uri;
  std::vector<Range> ranges; ///< ascending
  std::string before, after;
};
using Changes = std::map<std::string, Change>; ///< by real path

Changes changesFor(const View &view, const std::vector<Occurrence> &occurrences,
                   const std::string &newName, llvm::ArrayRef<Document> closed) {
  Changes changes;
  for (const Occurrence &occurrence : occurrences) {
    Change &change = changes[occurrence.realPath];
    change.uri = occurrence.uri;
    change.ranges.push_back(occurrence.range);
  }
  for (auto &[path, change] : changes) {
    if (const Document *open = view.context().workspace.findPath(path))
      change.before = open->text;
    for (const Document &document : closed)
      if (realPathOf(document.path) == path)
        change.before = document.text;
    change.after = change.before;
    for (const Range &range : llvm::reverse(change.ranges))
      change.after = replaced(change.after, range, newName, view.encoding());
  }
  return changes;
}

/// A description of the present meaning of the new name; empty: it has none.
std::string meaningBefore(const Analysis &analysis, const std::string &name) {
  for (size_t file = analysis.program().files.size(); file-- > 0;)
    for (const SymbolIndex::Symbol *symbol :
         analysis.symbols.symbolsIn(static_cast<uint16_t>(file))) {
      bool isSeen = file == analysis.file || symbol->kind == SymbolKind::Declaration;
      std::string line = std::to_string(symbol->loc.line);
      if (symbol->name == name && isSeen)
        return "'" + name + "' is declared in " +
               (file == analysis.file ? "line " + line
                                      : "'" + analysis.program().files[file] + "', line " + line) +
               " already";
    }
  bool isWord =
      llvm::any_of(languageWords(), [&](const LanguageWord &w) { return w.word == name; });
  return isWord ? "'" + name + "' is a word of the language" : "";
}

/// The reason that the changed file would have another meaning; empty: it would not.
std::string differenceOf(const Analysis &before, const Analysis &after,
                         const std::string &newName) {
  if (after.compilation.ok() && meaningOf(before) == meaningOf(after))
    return "";
  if (std::string meaning = meaningBefore(before, newName); !meaning.empty())
    return meaning + ", and the two would collide";
  if (after.compilation.ok())
    return "'" + newName + "' would collide with another name";
  const Diagnostic &error = after.compilation.diagnostics().front();
  return "'" + newName + "' does not fit in line " + std::to_string(error.loc.line) + ": " +
         error.message;
}

std::string problemOf(const View &view, const Changes &changes, const std::string &newName) {
  Workspace &workspace = view.context().workspace;
  std::map<std::string, std::string> texts;
  for (const auto &[path, change] : changes)
    texts[path] = change.after;
  for (const auto &[path, change] : changes) {
    std::shared_ptr<const Analysis> before = workspace.analyse(path, change.before);
    if (!before->compilation.ok())
      return "'" + path + "' uses the name and has errors";
    std::shared_ptr<const Analysis> after = workspace.analyse(path, change.after, texts);
    if (std::string why = differenceOf(*before, *after, newName); !why.empty())
      return why;
  }
  return "";
}

} // namespace

Answer prepareRename(const View &view, Position position) {
  View::Word word = view.wordAt(position);
  Target target = targetOf(view, word);
  if (!target.symbol)
    return failed(target.why);
  return json::Value(
      json::Object{{"range", toJson(view.rangeOf(word))}, {"placeholder", std::string(word.text)}});
}

Answer rename(const View &view, Position position, const std::string &newName) {
  Target target = targetOf(view, view.wordAt(position));
  if (!target.symbol)
    return failed(target.why);
  if (!isIdentifier(newName))
    return failed("'" + newName +
                      "' is no name: names have letters, digits and underscores, and "
                      "begin with no digit",
                  ErrorCode::InvalidParams);
  std::vector<Document> closed = closedFilesWith(view.context(), target.symbol->name);
  Changes changes = changesFor(view, occurrencesOf(view, *target.symbol), newName, closed);
  if (newName == target.symbol->name)
    return json::Value(json::Object{{"changes", json::Object{}}});
  for (const auto &[path, change] : changes)
    if (change.before.empty())
      return failed("'" + path + "' declares or uses the name, and is not in the workspace");
  if (std::string problem = problemOf(view, changes, newName); !problem.empty())
    return failed(problem);
  json::Object all;
  for (const auto &[path, change] : changes) {
    json::Array edits;
    for (const Range &range : change.ranges)
      edits.push_back(textEdit(range, newName));
    all[change.uri] = std::move(edits);
  }
  return json::Value(json::Object{{"changes", std::move(all)}});
}

} // namespace colldsl::lsp
