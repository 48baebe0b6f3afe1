/// The places where the names of a compilation are declared and used, for editors. Semantic
/// analysis fills it while it resolves them.
#pragma once

#include "compiler/Types.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace colldsl {

enum class SymbolKind : uint8_t {
  Declaration, ///< collective, tree, graph, function
  Parameter,
  Size,         ///< `n` of T[n]
  TypeVariable, ///< `T` of T[n]
  Local,        ///< of `let`, `temp`
  LoopVariable, ///< of `for`, a comprehension
  Label,
};

class SymbolIndex {
public:
  struct Symbol {
    SymbolKind kind = SymbolKind::Local;
    std::string name;
    SourceLoc loc;         ///< of the name where it is declared
    Type type;             ///< of a parameter, a size, a local
    DeclId decl = kNoDecl; ///< itself, or the one that it is a part of
  };
  struct Use {
    SourceLoc loc;
    SourceLoc declared; ///< a Symbol's loc
  };
  /// `.parent` behind a value.
  struct Member {
    SourceLoc loc; ///< of its name
    ValueType base = ValueType::Int;
    std::string name;
  };

  // Expressions may be analysed twice. A place that is noted again keeps its first entry.

  void declare(Symbol symbol);
  void use(SourceLoc loc, SourceLoc declared);
  void member(SourceLoc loc, ValueType base, llvm::StringRef name);

  /// The symbol that is declared or used there; null: there is none.
  const Symbol *at(SourceLoc loc) const;
  const Member *memberAt(SourceLoc loc) const;
  /// The symbol that is declared there, or null.
  const Symbol *declaredAt(SourceLoc loc) const;

  /// All uses, by place. The declaration of a symbol is no use of it.
  std::vector<Use> uses() const;
  std::vector<SourceLoc> usesOf(SourceLoc declared) const;
  /// The symbols of a file, by place.
  std::vector<const Symbol *> symbolsIn(uint16_t file) const;

  bool empty() const { return symbols_.empty(); }

private:
  struct ByPlace {
    bool operator()(const SourceLoc &a, const SourceLoc &b) const {
      return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    }
  };
  std::map<SourceLoc, Symbol, ByPlace> symbols_;
  std::map<SourceLoc, SourceLoc, ByPlace> uses_;
  std::map<SourceLoc, Member, ByPlace> members_;
};

} // namespace colldsl
