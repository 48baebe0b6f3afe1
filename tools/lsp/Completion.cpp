// Completion. A text that is being typed rarely parses, and a name is in scope only in one that
// does. So the text is analysed as it is, then with a name where one is missing, then without the
// statement that is being typed; the first of these texts that has names is used, else the last
// version of the document that had.
// Example: "send x to |" becomes "send x to completed;".
#include "tools/list/DeclText.h"
#include "tools/lsp/Features.h"
#include "tools/lsp/LanguageWords.h"
#include "tools/lsp/Structure.h"
#include "tools/lsp/SymbolText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace colldsl::lsp {
namespace {

constexpr std::string_view kPlaceholder = "completed__";

/// The protocol's CompletionItemKind.
enum : int {
  kMethod = 2,
  kFunction = 3,
  kField = 5,
  kVariable = 6,
  kClass = 7,
  kValue = 12,
  kKeyword = 14,
  kReference = 18,
  kTypeParameter = 25
};

/// Where on the way to the cursor.
struct Place {
  size_t cursor = 0;
  size_t word = 0; ///< the beginning of what is typed of it
};

/// A text in which the cursor has a place, and its names.
struct Names {
  std::shared_ptr<const Analysis> analysis;
  size_t cursor = 0;   ///< in its text
  bool isWhole = true; ///< of this text; else the places behind the cursor may have moved
};

bool isWordSign(char c) { return llvm::isAlnum(c) || c == '_'; }

std::string withInserted(const std::string &text, size_t at, std::string_view what) {
  return text.substr(0, at) + std::string(what) + text.substr(at);
}

/// The text with blanks for the statement around the cursor, to the end of its line.
std::string withoutStatement(std::string text, size_t cursor) {
  size_t begin = text.find_last_of(";{}", cursor > 0 ? cursor - 1 : 0);
  begin = begin == std::string::npos || begin >= cursor ? 0 : begin + 1;
  size_t end = std::min(text.find_first_of("\n;{}", cursor), text.size());
  if (end < text.size() && text[end] == ';')
    ++end;
  for (size_t i = begin; i < end; ++i)
    if (text[i] != '\n')
      text[i] = ' ';
  return text;
}

Names namesAt(const View &view, const Place &place) {
  const Document &document = view.document();
  Workspace &workspace = view.context().workspace;
  const std::string &text = document.text;
  if (document.analysis->hasNames() && place.word != place.cursor)
    return {document.analysis, place.cursor};
  std::string name(kPlaceholder);
  if (place.word == place.cursor)
    for (const std::string &what : {name, name + ";", name + "();", name + ") ;"}) {
      auto analysis = workspace.analyse(document.path, withInserted(text, place.cursor, what));
      if (analysis->hasNames())
        return {analysis, place.cursor};
    }
  for (const std::string &other :
       {withInserted(text, place.cursor, ";"), withoutStatement(text, place.cursor)})
    if (auto analysis = workspace.analyse(document.path, other); analysis->hasNames())
      return {analysis, place.cursor};
  return {document.named, place.cursor, false};
}

class Items {
public:
  Items(const View &view, Names names) : view_(view), names_(std::move(names)) {}

  void add(const std::string &label, int kind, const std::string &detail, const std::string &doc,
           char group) {
    if (!known_.try_emplace(label, true).second)
      return;
    json::Object item{{"label", json::fixUTF8(label)},
                      {"kind", kind},
                      {"sortText", std::string(1, group) + json::fixUTF8(label)}};
    if (!detail.empty())
      item["detail"] = json::fixUTF8(detail);
    if (!doc.empty())
      item["documentation"] = markup(doc, view_.context().client.completionMarkdown);
    items_.push_back(std::move(item));
  }

  void addMembers(size_t dot);
  void addLocals();
  void addParametersOf(std::string_view callee);
  void addDeclarations(bool isStatement);
  void addWords(llvm::ArrayRef<LanguageWord::Kind> kinds);
  json::Array take() { return std::move(items_); }

private:
  void addLocal(const SymbolIndex::Symbol &symbol);

  const View &view_;
  Names names_;
  std::map<std::string, bool> known_;
  json::Array items_;
};

/// Of the value before the dot. Its type is known where the compiler looked for the member.
void Items::addMembers(size_t dot) {
  std::optional<ValueType> base;
  if (names_.analysis) {
    const Analysis &analysis = *names_.analysis;
    size_t member = dot + 1;
    while (member < analysis.text.size() && analysis.text[member] == ' ')
      ++member;
    Lines lines(analysis.text);
    if (auto *found = analysis.symbols.memberAt(lines.locOf(member, analysis.file)))
      base = found->base;
  }
  for (const LanguageWord &word : languageWords())
    if (word.kind == LanguageWord::Kind::Member && (!base || word.base == base))
      add(word.word, word.usage.find('(') != std::string::npos ? kMethod : kField, word.usage,
          word.summary, '0');
}

void Items::addLocal(const SymbolIndex::Symbol &symbol) {
  int kind = symbol.kind == SymbolKind::Label          ? kReference
             : symbol.kind == SymbolKind::TypeVariable ? kTypeParameter
                                                       : kVariable;
  add(symbol.name, kind, kindOf(*names_.analysis, symbol), "", '0');
}

/// Those of the declaration around the cursor that are in scope there, the inner ones first.
void Items::addLocals() {
  if (!names_.analysis)
    return;
  const Analysis &analysis = *names_.analysis;
  Structure structure(analysis.text);
  Lines lines(analysis.text);
  std::vector<const SymbolIndex::Symbol *> symbols = analysis.symbols.symbolsIn(analysis.file);
  for (const SymbolIndex::Symbol *symbol : llvm::reverse(symbols)) {
    const Decl *decl = analysis.declOf(*symbol);
    if (symbol->kind == SymbolKind::Declaration || symbol->name == kPlaceholder || !decl)
      continue;
    bool isLocal = symbol->kind == SymbolKind::Local || symbol->kind == SymbolKind::LoopVariable;
    Structure::Piece scope = isLocal ? structure.scopeOf(lines.offsetOf(symbol->loc))
                                     : structure.declAround(lines.offsetOf(decl->loc));
    bool isIn = scope.begin + symbol->name.size() <= names_.cursor && names_.cursor <= scope.end;
    if (isIn || !names_.isWhole)
      addLocal(*symbol);
  }
}

void Items::addParametersOf(std::string_view callee) {
  if (!names_.analysis)
    return;
  const Program &program = names_.analysis->program();
  for (const Decl &decl : llvm::reverse(program.decls))
    if (program.nameOf(decl) == callee) {
      for (const Param &param : decl.params)
        add(program.nameOf(param) + " = ", kField,
            "parameter of " + std::string(callee) + (param.isBuffer ? ", a buffer" : ""), "", '0');
      return;
    }
}

/// Collectives are called as statements, all others in expressions.
void Items::addDeclarations(bool isStatement) {
  if (!names_.analysis)
    return;
  const Analysis &analysis = *names_.analysis;
  const Program &program = analysis.program();
  for (const Decl &decl : llvm::reverse(program.decls)) { // the nearest ones come last
    bool isCollective = decl.kind == DeclKind::Collective;
    bool isOwn = decl.loc.file == analysis.file;
    const std::string &doc = program.strings[decl.doc];
    bool isPart =
        decl.kind == DeclKind::Function && doc.empty() && !isOwn; // of one that is for all
    if (isCollective == isStatement && !isPart)
      add(program.nameOf(decl), isCollective ? kFunction : kClass,
          tools::kindWord(decl.kind).str() + ", " + tools::placeOf(program, decl), doc,
          isOwn ? '1' : '3');
  }
}

void Items::addWords(llvm::ArrayRef<LanguageWord::Kind> kinds) {
  using Kind = LanguageWord::Kind;
  for (const LanguageWord &word : languageWords()) {
    if (!llvm::is_contained(kinds, word.kind))
      continue;
    int kind = word.kind == Kind::Function ? kFunction
               : word.kind == Kind::Value  ? kValue
                                           : kKeyword;
    add(word.word, kind, word.usage, describeWord(word.word, std::nullopt),
        word.kind == Kind::Keyword ? '4' : '2');
  }
}

/// Whether the place is in a comment or a string: nothing is completed there.
bool isInText(const std::string &text, size_t cursor) {
  size_t begin = text.rfind('\n', cursor > 0 ? cursor - 1 : 0);
  begin = begin == std::string::npos || begin >= cursor ? 0 : begin + 1;
  bool isString = false;
  for (size_t i = begin; i < cursor; ++i) {
    if (text[i] == '"')
      isString = !isString;
    if (!isString && text[i] == '/' && i + 1 < cursor && text[i + 1] == '/')
      return true;
  }
  size_t open = text.rfind("/*", cursor), close = text.rfind("*/", cursor);
  bool isComment =
      open != std::string::npos && open < cursor && (close == std::string::npos || close < open);
  return isString || isComment;
}

} // namespace

Answer completion(const View &view, Position position) {
  using Kind = LanguageWord::Kind;
  const std::string &text = view.document().text;
  Place place;
  place.cursor = place.word = view.lines().offsetOf(position, view.encoding());
  while (place.word > 0 && isWordSign(text[place.word - 1]))
    --place.word;
  bool isNumber = place.word < place.cursor && llvm::isDigit(text[place.word]);
  if (isNumber || isInText(text, place.cursor))
    return json::Value(json::Array{});
  size_t before = place.word;
  while (before > 0 && llvm::isSpace(text[before - 1]))
    --before;
  Items items(view, namesAt(view, place));
  bool isRange = before > 1 && text[before - 2] == '.';
  if (before > 0 && text[before - 1] == '.' && !isRange) {
    items.addMembers(before - 1);
    return json::Value(items.take());
  }
  Structure structure(text);
  char last = before > 0 ? text[before - 1] : ';';
  bool isStart = last == ';' || last == '{' || last == '}';
  if (isStart && structure.depthAt(place.word) == 0) {
    items.addWords({Kind::Keyword});
    return json::Value(items.take());
  }
  items.addLocals();
  if (std::optional<std::string_view> callee = structure.calleeAt(place.word))
    items.addParametersOf(*callee);
  items.addDeclarations(isStart);
  if (isStart)
    items.addWords({Kind::Statement, Kind::Keyword});
  else
    items.addWords({Kind::Value, Kind::Function, Kind::Type, Kind::Keyword});
  return json::Value(items.take());
}

} // namespace colldsl::lsp
