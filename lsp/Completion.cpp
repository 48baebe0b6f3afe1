// Completion: the names in scope at the cursor (Names.h), and the words that may stand there.
#include "driver/source/DeclText.h"
#include "lsp/Features.h"
#include "lsp/LanguageWords.h"
#include "lsp/Names.h"
#include "lsp/Structure.h"
#include "lsp/SymbolText.h"
#include "lsp/TextPart.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace colldsl::lsp {
namespace {

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

/// Adds the members of the value before the dot: those of its type if the compiler looked up the
/// member there, else all.
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

/// Adds the local names in scope at the cursor, the inner ones first.
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

/// Adds collectives if a statement may stand there, else all other declarations.
void Items::addDeclarations(bool isStatement) {
  if (!names_.analysis)
    return;
  const Analysis &analysis = *names_.analysis;
  const Program &program = analysis.program();
  for (const Decl &decl : llvm::reverse(program.decls)) { // the innermost come last
    bool isCollective = decl.kind == DeclKind::Collective;
    bool isOwn = decl.loc.file == analysis.file;
    const std::string &doc = program.strings[decl.doc];
    bool isPart = decl.kind == DeclKind::Function && doc.empty() && !isOwn; // a helper
    if (isCollective == isStatement && !isPart)
      add(program.nameOf(decl), isCollective ? kFunction : kClass,
          driver::kindWord(decl.kind).str() + ", " + driver::placeOf(program, decl), doc,
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

} // namespace

Answer completion(const View &view, Position position) {
  using Kind = LanguageWord::Kind;
  const std::string &text = view.document().text;
  size_t cursor = view.lines().offsetOf(position, view.encoding()), word = cursor;
  while (word > 0 && isWordSign(text[word - 1]))
    --word;
  bool isNumber = word < cursor && llvm::isDigit(text[word]);
  if (isNumber || textPartAt(text, cursor).kind != TextPart::Kind::Code)
    return json::Value(json::Array{});
  size_t before = endOfCodeBefore(text, word);
  Items items(view, namesAt(view, word, cursor));
  bool isRange = before > 1 && text[before - 2] == '.';
  if (before > 0 && text[before - 1] == '.' && !isRange) {
    items.addMembers(before - 1);
    return json::Value(items.take());
  }
  Structure structure(text);
  char last = before > 0 ? text[before - 1] : ';';
  bool isStart = last == ';' || last == '{' || last == '}';
  if (isStart && structure.depthAt(word) == 0) {
    items.addWords({Kind::Keyword});
    return json::Value(items.take());
  }
  items.addLocals();
  if (std::vector<Structure::Call> calls = structure.callsAround(word); !calls.empty())
    items.addParametersOf(calls.front().callee);
  items.addDeclarations(isStart);
  if (isStart)
    items.addWords({Kind::Statement, Kind::Keyword});
  else
    items.addWords({Kind::Value, Kind::Function, Kind::Type, Kind::Keyword});
  return json::Value(items.take());
}

} // namespace colldsl::lsp
