#include "lsp/LanguageWords.h"

#include "compiler/Builtins.h"
#include "compiler/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <vector>

namespace colldsl::lsp {
namespace {

using Kind = LanguageWord::Kind;

constexpr struct {
  llvm::StringRef usage;
  ValueType first; ///< the type of its first argument; the others are ints
  llvm::StringRef summary;
} kBuiltins[] = {
#define COLLDSL_BUILTIN(Name, usage, least, most, first, result, opcode, summary)                  \
  {usage, ValueType::first, summary},
#include "program/Builtins.def"
};

constexpr struct {
  llvm::StringRef usage, summary;
} kAggregates[] = {
#define COLLDSL_AGGREGATE(Name, usage, summary) {usage, summary},
#include "program/Builtins.def"
};

// Each kind of postcondition that the program has is a row of the table.
constexpr EnsureKind kKinds[] = {
#define COLLDSL_POSTCONDITION(Name, word, form, summary) EnsureKind::Name,
#include "program/Clauses.def"
};
static_assert(std::size(kKinds) == kEnsureKinds);

constexpr struct {
  llvm::StringRef word, form, summary;
} kClauseWords[] = {
#define COLLDSL_CLAUSE(word, form, summary) {word, form, summary},
#include "program/Clauses.def"
#define COLLDSL_POSTCONDITION(Name, word, form, summary) {word, "ensures " form, summary},
#include "program/Clauses.def"
#define COLLDSL_COST(Name, spelling, unit, summary)                                                \
  {spelling, "ensures " spelling " <= e", summary},
#include "ir/Costs.def"
};

constexpr struct {
  llvm::StringRef usage; ///< with alternatives
  Operand base;
  llvm::StringRef summary;
} kExpressions[] = {
#define COLLDSL_EXPR(Name, usage, result, value, slot, a, b, c, opcode, summary)                   \
  {usage, Operand::a, summary},
#include "program/Exprs.def"
};

constexpr struct {
  llvm::StringRef form, summary;
} kStatements[] = {
#define COLLDSL_STMT_FORM(Name, form, summary) {form, summary},
#include "program/Stmts.def"
};

constexpr struct {
  llvm::StringRef spelling, meaning;
} kElementTypes[] = {
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, numpy, dlpack, meaning, ...)             \
  {spelling, meaning},
#include "ir/Vocabulary.def"
};

constexpr struct {
  llvm::StringRef spelling, description;
} kValueTypes[] = {
#define COLLDSL_TYPE(Name, spelling, description) {spelling, description},
#include "program/Types.def"
};

/// Without links to sections of the reference: " ([9](#9-data))".
std::string withoutLinks(llvm::StringRef text) {
  std::string result;
  for (size_t at = 0; (at = text.find(" ([")) != llvm::StringRef::npos;) {
    result += text.take_front(at).str();
    size_t end = text.find("))", at);
    text = end == llvm::StringRef::npos ? "" : text.drop_front(end + 2);
  }
  return result + text.str();
}

bool isName(llvm::StringRef text) {
  return text.size() > 1 && llvm::all_of(text, [](char c) { return llvm::isAlpha(c) || c == '_'; });
}

void addExpressions(std::vector<LanguageWord> &words) {
  for (const auto &expression : kExpressions) {
    llvm::SmallVector<llvm::StringRef> usages;
    expression.usage.split(usages, '|', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef usage : usages) {
      bool isMember = usage.starts_with(".");
      llvm::StringRef word = wordOf(usage);
      if (!isName(word))
        continue; // an operator
      Kind kind = isMember ? Kind::Member : usage.contains('(') ? Kind::Function : Kind::Value;
      std::optional<ValueType> base;
      if (isMember)
        base = static_cast<ValueType>(expression.base);
      words.push_back({kind, word.str(), usage.str(), withoutLinks(expression.summary), base});
    }
  }
}

/// The call in a usage: from the word to the closing parenthesis of its arguments.
std::string callIn(llvm::StringRef usage, llvm::StringRef word) {
  size_t begin = usage.find((word + "(").str());
  if (word.empty() || begin == llvm::StringRef::npos)
    return "";
  unsigned depth = 0;
  for (size_t end = begin; end < usage.size(); ++end) {
    depth += usage[end] == '(';
    if (usage[end] == ')' && --depth == 0)
      return usage.slice(begin, end + 1).str();
  }
  return "";
}

/// The call with the types of its parameters. Empty: it takes any number of arguments, of any
/// numeric type.
std::string typedCall(llvm::StringRef usage, ValueType first) {
  if (usage.contains("..."))
    return "";
  std::string call;
  for (const std::string &parameter : parametersOf(usage)) {
    ValueType type = call.empty() ? first : ValueType::Int;
    call += (call.empty() ? "" : ", ") + parameter + ": " +
            kValueTypes[static_cast<size_t>(type)].spelling.str();
  }
  return std::string(wordOf(usage)) + "(" + call + ")";
}

void addBuiltins(std::vector<LanguageWord> &words) {
  for (const auto &builtin : kBuiltins)
    words.push_back({Kind::Function, std::string(wordOf(builtin.usage)), builtin.usage.str(),
                     withoutLinks(builtin.summary), std::nullopt,
                     typedCall(builtin.usage, builtin.first)});
  for (const auto &aggregate : kAggregates)
    words.push_back({Kind::Function, std::string(wordOf(aggregate.usage)), aggregate.usage.str(),
                     withoutLinks(aggregate.summary)});
}

/// Adds the keyword of each statement form: the first word that is a name. In "`a requires b, c;`"
/// that is the second one.
void addStatements(std::vector<LanguageWord> &words) {
  for (const auto &statement : kStatements) {
    llvm::SmallVector<llvm::StringRef> forms;
    statement.form.split(forms, "` `");
    for (llvm::StringRef form : forms) {
      llvm::StringRef first = form.split(' ').first,
                      second = form.split(' ').second.split(' ').first;
      llvm::StringRef word = isName(first) ? first : second;
      if (isName(word))
        words.push_back({Kind::Statement, word.str(), form.str(), withoutLinks(statement.summary)});
    }
  }
}

/// Clauses, and the words of the grammar that are in no table.
void addKeywords(std::vector<LanguageWord> &words) {
  for (const auto &clause : kClauseWords)
    if (!clause.word.empty())
      words.push_back(
          {Kind::Keyword, clause.word.str(), clause.form.str(), withoutLinks(clause.summary)});
  auto isKeyword = [&](const std::string &word) {
    return llvm::any_of(words, [&](const LanguageWord &w) {
      return (w.kind == Kind::Statement || w.kind == Kind::Keyword) && w.word == word;
    });
  };
  for (const std::string &word : grammarWords())
    if (!isKeyword(word))
      words.push_back({Kind::Keyword, word, word, ""});
}

std::vector<LanguageWord> makeWords() {
  std::vector<LanguageWord> words;
  addBuiltins(words);
  addExpressions(words);
  addStatements(words);
  for (const auto &type : kValueTypes)
    if (!type.spelling.empty())
      words.push_back({Kind::Type, type.spelling.str(), type.spelling.str(),
                       "the type of " + type.description.str()});
  for (const auto &type : kElementTypes)
    words.push_back({Kind::Type, type.spelling.str(), type.spelling.str(),
                     "a type of elements: " + type.meaning.str()});
  auto isKnown = [&](llvm::StringRef word) {
    return llvm::any_of(words, [&](const LanguageWord &w) { return w.word == word; });
  };
  for (llvm::StringRef name : builtinValueNames())
    if (!isKnown(name) || parseReduction(std::string_view(name)))
      words.push_back({Kind::Value, name.str(), name.str(),
                       parseReduction(std::string_view(name))
                           ? "a reduction"
                           : "a level of the machine, as a group"});
  addKeywords(words);
  for (LanguageWord &word : words)
    if (word.kind != Kind::Statement && word.call.empty())
      word.call = callIn(word.usage, word.word);
  return words;
}

} // namespace

llvm::ArrayRef<LanguageWord> languageWords() {
  static const std::vector<LanguageWord> words = makeWords();
  return words;
}

std::vector<std::string> parametersOf(llvm::StringRef call) {
  std::vector<std::string> parameters;
  unsigned depth = 0;
  for (char c : call) {
    depth -= c == ')' || c == ']';
    bool isBetween = (depth == 0 && c == '(') || (depth == 1 && c == ',');
    if (isBetween)
      parameters.emplace_back();
    else if (depth > 0)
      parameters.back() += c;
    depth += c == '(' || c == '[';
  }
  for (std::string &parameter : parameters)
    parameter = llvm::StringRef(parameter).trim().str();
  return parameters;
}

std::string describeWord(llvm::StringRef word, std::optional<ValueType> base) {
  std::string text;
  for (const LanguageWord &known : languageWords())
    if (known.word == word && known.base == base && !known.summary.empty())
      text += (text.empty() ? "`" : "\n\n`") + known.usage + "`: " + known.summary;
  return text;
}

} // namespace colldsl::lsp
