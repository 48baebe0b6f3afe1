#include "compiler/SyntaxError.h"

#include "compiler/ForeignWords.h"
#include "compiler/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <optional>

namespace colldsl {
namespace {

using llvm::StringRef;
using Words = std::vector<std::string>;

bool isWord(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text.front()) || text.front() == '_');
}
bool isKeyword(StringRef text) { return isWord(text) && llvm::isLower(text.front()); }
bool isValue(StringRef text) { return text == "true" || text == "false" || text == "none"; }
bool has(const Words &words, StringRef word) { return llvm::is_contained(words, word.str()); }

/// True if the token may follow any complete expression.
bool continuesExpression(StringRef text) {
  constexpr StringRef kOperators[] = {".",  "[", "(",  "@",  "*",   "/",   "%",
                                      "+",  "-", "<<", ">>", "==",  "!=",  "<",
                                      "<=", ">", ">=", "?",  "xor", "and", "or"};
  return llvm::is_contained(kOperators, text);
}

bool startsExpression(StringRef text) {
  constexpr StringRef kStarts[] = {"Identifier", "Number", "String", "(", "[", "-", "+"};
  return llvm::is_contained(kStarts, text) || isKeyword(text);
}

std::string inQuotes(StringRef token) {
  if (token == "String")
    return "a string";
  return token == "EOF" ? "the end of the file" : ("'" + token + "'").str();
}

/// True for tokens that make a word a name, although it is a keyword that begins a statement.
bool makesItAName(StringRef token) {
  constexpr StringRef kTokens[] = {"(", "[", ":", "requires", "irequires"};
  return llvm::is_contained(kTokens, token);
}

/// The expected tokens in words: one phrase for all that begin an expression or a name, and none
/// for unlikely ones.
Words phrasesFor(const SyntaxError &error) {
  const Words &all = error.expected;
  bool isExpression = has(all, "Number");
  bool isName = has(all, "Identifier") && !isExpression;
  bool isMore = has(all, "and") && has(all, "?") && !llvm::all_of(all, continuesExpression);
  bool isKeywordOrName = error.previous == error.operation && has(all, ":");
  Words phrases;
  if (isExpression)
    phrases.push_back("an expression");
  if (isName)
    phrases.push_back(error.construct == Construct::Parameter ? "a parameter" : "a name");
  for (const std::string &token : all) {
    bool said = (isExpression && startsExpression(token)) || (isName && isWord(token));
    bool unlikely =
        (isMore && continuesExpression(token)) || (isKeywordOrName && makesItAName(token));
    if (!said && !unlikely)
      phrases.push_back(inQuotes(token));
  }
  return phrases;
}

std::string join(Words phrases) {
  constexpr size_t kMax = 6;
  phrases.resize(std::min(phrases.size(), kMax));
  if (phrases.empty())
    return "something else";
  std::string last = std::move(phrases.back());
  phrases.pop_back();
  return phrases.empty() ? last : llvm::join(phrases, ", ") + " or " + last;
}

std::string expectation(const SyntaxError &error) {
  switch (error.construct) {
  case Construct::File:
    return "a declaration";
  case Construct::Block:
    return "a statement or '}'";
  case Construct::Clauses:
    return "a clause or '{'";
  case Construct::Parameters:
  case Construct::Statement:
  case Construct::Operation:
  case Construct::Parameter:
  case Construct::Clause:
  case Construct::Other:
    return join(phrasesFor(error));
  }
  llvm_unreachable("no such construct");
}

std::string foundText(const SyntaxError &error) {
  constexpr size_t kLongest = 30;
  if (error.found.empty())
    return "the end of the file";
  StringRef text = error.found;
  if (text.starts_with("\""))
    return "a string";
  return ("'" + text.take_front(kLongest) + (text.size() > kLongest ? "...'" : "'")).str();
}

std::string place(const SyntaxError &error) {
  bool endsOperation = has(error.expected, ";") && !error.operation.empty();
  if (endsOperation)
    return " after '" + error.operation + "'";
  bool begins = error.construct == Construct::Block || error.construct == Construct::File;
  if (begins || error.previous.empty())
    return "";
  return error.previous.front() == '"' ? " after the string" : " after '" + error.previous + "'";
}

/// The keyword that a word was meant for, out of those that fit.
StringRef keywordFor(StringRef word, const Words &fitting) {
  if (!isWord(word))
    return {};
  StringRef ours = ourWordFor(word);
  if (has(fitting, ours.split(' ').first) || (ours == "else if" && !fitting.empty()))
    return ours;
  std::vector<StringRef> keywords;
  for (const std::string &candidate : fitting)
    if (isKeyword(candidate))
      keywords.push_back(candidate);
  return nearestWord(word, keywords);
}

/// The keywords that begin a construct.
Words startersOf(Construct construct) {
  switch (construct) {
  case Construct::Statement:
  case Construct::Operation:
    return {"let",  "temp", "for",    "if",   "parent", "child",   "edge",
            "send", "recv", "signal", "wait", "copy",   "combine", "calc"};
  case Construct::Parameter:
    return {"in", "out", "inout"};
  case Construct::Clause:
    return {"where", "ensures"};
  case Construct::File:
  case Construct::Block:
  case Construct::Parameters:
  case Construct::Clauses:
  case Construct::Other:
    return {};
  }
  llvm_unreachable("no such construct");
}

/// The keyword that the found token was meant for. If the parser expects only the end of a
/// statement, it has passed the keywords that could continue it, so these are tried.
StringRef keywordForFound(const SyntaxError &error) {
  static const Words kTails = {"tag", "combine", "before", "after", "over",
                               "key", "weight",  "and",    "or",    "xor"};
  return keywordFor(error.found, has(error.expected, ";") ? kTails : error.expected);
}

/// `combine A to B`, `combine A into B with op`.
bool breaksCombine(const SyntaxError &error) {
  constexpr StringRef kForeign[] = {"to", "onto", "in", "and", "with", "using"};
  return error.operation == "combine" && (error.previous == "with" || error.previous == "using" ||
                                          llvm::is_contained(kForeign, error.found));
}

std::string hintFor(const SyntaxError &error) {
  bool wantsName = has(error.expected, "Identifier") && !has(error.expected, "Number");
  if (isValue(error.found) && wantsName)
    return "'" + error.found + "' is a value and cannot be a name";
  if (error.previous == "." && llvm::isDigit(error.found.empty() ? ' ' : error.found.front()))
    return "numbers are whole";
  if (breaksCombine(error))
    return "the form is: combine A into B op";
  if (StringRef ours = ourOperatorFor(error.found); !ours.empty())
    return didYouMean(ours);
  if (error.found == "#")
    return "a comment begins with '//', and another file is imported: import \"other.coll\";";
  if (error.found == "{" && has(error.expected, ";"))
    return "only 'for' and 'if' have a block";
  if (error.found == "*" && error.previous == "*")
    return "a power of two is written 1 << b";
  if (error.previousBegins)
    return didYouMean(keywordFor(error.previous, startersOf(error.construct)));
  return didYouMean(keywordForFound(error));
}

/// `x = 3`, `y[rank] = x`, `y += x`.
struct Assignment {
  std::string target, sign, value;
  bool isName = false; ///< the target is one, without blocks
};

StringRef assigningSign(StringRef text) {
  for (StringRef sign : {"+=", "-=", "="})
    if (text.starts_with(sign) && !text.starts_with("=="))
      return sign;
  return {};
}

/// Finds an assignment, of which colldsl has none. The parser stops at its sign, or at ".." in
/// brackets, as labels have no ranges.
std::optional<Assignment> assignmentIn(const SyntaxError &error) {
  if (error.construct != Construct::Statement && error.found != "..")
    return std::nullopt;
  bool isTarget = error.previousBegins || error.previous == "]";
  if (isTarget && error.found == assigningSign(error.found) && !error.found.empty())
    return Assignment{error.before, error.found, error.behind, error.previousBegins};
  auto [inside, rest] = StringRef(error.behind).split(']');
  StringRef sign = error.found == ".." ? assigningSign(rest.ltrim()) : "";
  if (sign.empty() || !isWord(error.before))
    return std::nullopt;
  std::string target = error.before + ".." + inside.str() + "]";
  return Assignment{target, sign.str(), rest.ltrim().drop_front(sign.size()).ltrim().str()};
}

/// True for a name with or without blocks, which may denote memory.
bool mayBeSlice(StringRef text) {
  StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  StringRef rest = text.drop_front(name.size());
  return isWord(name) && (rest.empty() || (rest.starts_with("[") && rest.ends_with("]")));
}

std::string hintForAssignment(const Assignment &a) {
  bool isMemory = mayBeSlice(a.value), copies = a.sign == "=", adds = a.sign == "+=";
  std::string writes = copies ? "write 'copy " + a.value + " to " + a.target + ";'"
                              : "write 'combine " + a.value + " into " + a.target + " sum;'";
  bool hasForm = isMemory && (copies || adds);
  if (!a.isName)
    return hasForm ? writes : "buffers are written by copy, combine and recv";
  std::string binds = "names are bound once, with 'let " + a.target + " = ...'";
  return hasForm ? binds + "; of buffers, " + writes : binds;
}

bool isDeclarationKeyword(StringRef word) {
  constexpr StringRef kWords[] = {"collective", "deterministic", "tree",
                                  "graph",      "function",      "import"};
  return llvm::is_contained(kWords, word);
}

bool isStatementKeyword(StringRef word) {
  return word == "let" || word == "temp" || word == "for" || word == "if";
}

} // namespace

Diagnostic describe(const SyntaxError &error) {
  bool inStatement =
      error.construct == Construct::Statement || error.construct == Construct::Operation;
  if (std::optional<Assignment> a = assignmentIn(error))
    return Diagnostic::error(error.statementLoc, "'" + a->target + "' cannot be assigned",
                             hintForAssignment(*a));
  bool isFirst = inStatement && error.before == error.previous && isKeyword(error.previous);
  bool isDeclared = isDeclarationKeyword(error.previous);
  if (isFirst && (isDeclared || phrasesFor(error).empty()))
    return Diagnostic::error(error.previousLoc, "'" + error.previous + "' begins no statement here",
                             isDeclared ? "declarations stand beside each other, not in a block"
                                        : "");
  if (inStatement && error.previousBegins)
    return Diagnostic::error(error.previousLoc, "'" + error.previous + "' begins no statement here",
                             hintFor(error));
  if (error.construct == Construct::Operation && isStatementKeyword(error.previous))
    return Diagnostic::error(error.previousLoc, "a label stands before an operation or a call, not "
                                                "before '" +
                                                    error.previous + "'");
  bool lacksEnd = has(error.expected, ";") && error.foundLoc.line != error.previousLoc.line;
  SourceLoc loc = lacksEnd && error.previousEnd.known() ? error.previousEnd : error.foundLoc;
  std::string message =
      "expected " + expectation(error) + place(error) + ", found " + foundText(error);
  return Diagnostic::error(loc, std::move(message), hintFor(error));
}

} // namespace colldsl
