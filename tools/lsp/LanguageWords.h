/// The words that the language knows by itself, with their rows in the reference.
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
  std::string usage;                            ///< how it is written
  std::string summary;                          ///< empty: the tables have none
  std::optional<ValueType> base = std::nullopt; ///< of a member
  /// How it is called, with what is known of the types: "shift(dims: int[], d: int, delta: int)";
  /// empty: it is not called.
  std::string call = {};
};

/// The parameters between the parentheses of such a call.
std::vector<std::string> parametersOf(llvm::StringRef call);

/// From the tables of the language.
llvm::ArrayRef<LanguageWord> languageWords();

/// In Markdown, all that the tables have of a word: of a member of `base`, or else of no member.
/// Empty: nothing.
std::string describeWord(llvm::StringRef word, std::optional<ValueType> base);

} // namespace colldsl::lsp
