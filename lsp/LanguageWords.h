/// The built-in words of the language, with their rows in the reference.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace colldsl::lsp {

struct LanguageWord {
  enum class Kind : uint8_t {
    Value,     ///< rank, node, sum
    Function,  ///< log2(x)
    Member,    ///< .parent of a tree
    Statement, ///< send S to p
    Type,      ///< of parameters and elements
    Keyword,   ///< any other word of the grammar
  };
  Kind kind = Kind::Keyword;
  std::string word;
  std::string usage;                            ///< its form in source text
  std::string summary;                          ///< empty: the tables have none
  std::optional<ValueType> base = std::nullopt; ///< of a member
  /// The signature, with the types that are known: "shift(dims: int[], d: int, delta: int)"; empty:
  /// it is not called.
  std::string call = {};
};

/// The parameters of a signature as in LanguageWord::call.
std::vector<std::string> parametersOf(llvm::StringRef call);

/// All words in the tables of the language.
llvm::ArrayRef<LanguageWord> languageWords();

/// The text of the tables on a word, in Markdown: on a member of `base`, or, without `base`, on a
/// word that is no member. Empty: nothing.
std::string describeWord(llvm::StringRef word, std::optional<ValueType> base);

} // namespace colldsl::lsp
