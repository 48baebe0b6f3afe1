#include "compiler/SyntaxError.h"

#include "compiler/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

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

/// What may follow any complete expression.
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

std::string quoted(StringRef token) {
  if (token == "String")
    return "a string";
  return token == "EOF" ? "the end of the file" : ("'" + token + "'").str();
}

/// The expected tokens, one phrase for all those that begin an expression or a name,
/// and none for the operators that might go on after a complete expression.
Words phrasesFor(const SyntaxError &error) {
  const Words &all = error.expected;
  bool isExpression = has(all, "Number");
  bool isName = has(all, "Identifier") && !isExpression;
  bool isMore = has(all, "and") && has(all, "?") && !llvm::all_of(all, continuesExpression);
  Words phrases;
  if (isExpression)
    phrases.push_back("an expression");
  if (isName)
    phrases.push_back(error.construct == Construct::Parameter ? "a parameter" : "a name");
  for (const std::string &token : all) {
    bool said = (isExpression && startsExpression(token)) || (isName && isWord(token)) ||
                (isMore && continuesExpression(token));
    if (!said)
      phrases.push_back(quoted(token));
  }
  return phrases;
}

std::string expectation(const SyntaxError &error) {
  if (error.construct == Construct::Block)
    return "a statement or '}'";
  if (error.construct == Construct::File)
    return "a declaration";
  constexpr size_t kMost = 6;
  Words phrases = phrasesFor(error);
  phrases.resize(std::min(phrases.size(), kMost));
  std::string last = phrases.empty() ? "something else" : phrases.back();
  if (phrases.size() < 2)
    return last;
  phrases.pop_back();
  return llvm::join(phrases, ", ") + " or " + last;
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

/// Words of other languages, and what we write instead.
StringRef ourWordFor(StringRef word) {
  return llvm::StringSwitch<StringRef>(word)
      .Case("&&", "and")
      .Case("||", "or")
      .Case("!", "not")
      .Case("^", "xor")
      .Case("::", ".")
      .Cases("receive", "irecv", "recieve", "recv")
      .Cases("isend", "put", "send")
      .Cases("reduce", "accumulate", "combine")
      .Cases("compute", "work", "calc")
      .Cases("var", "const", "auto", "int", "let")
      .Cases("while", "foreach", "for")
      .Cases("elif", "elsif", "elseif", "else if")
      .Cases("def", "fn", "func", "function")
      .Cases("memcpy", "move", "copy")
      .Cases("buffer", "alloc", "temp")
      .Cases("include", "using", "import")
      .Cases("proc", "procedure", "algorithm", "collective")
      .Default("");
}

std::string hintFor(StringRef word, const Words &fitting) {
  if (StringRef ours = ourWordFor(word); !ours.empty())
    return didYouMean(ours);
  std::vector<StringRef> keywords;
  for (const std::string &candidate : fitting)
    if (isKeyword(candidate))
      keywords.push_back(candidate);
  return isWord(word) ? didYouMean(nearestWord(word, keywords)) : std::string();
}

std::string hintFor(const SyntaxError &error) {
  if (error.found == "=" && !error.starters.empty())
    return "names are bound once, with 'let " + error.previous + " = ...'";
  if (error.found == "=")
    return didYouMean("==");
  if (isValue(error.found) && has(error.expected, "Identifier") && !has(error.expected, "Number"))
    return "'" + error.found + "' is a value and nobody's name";
  if (std::string hint = hintFor(error.previous, error.starters); !hint.empty())
    return hint;
  return hintFor(error.found, error.expected);
}

} // namespace

Diagnostic describe(const SyntaxError &error) {
  bool unknownStatement = error.construct == Construct::Statement && !error.starters.empty();
  if (unknownStatement)
    return Diagnostic::error(error.previousLoc, "'" + error.previous + "' begins no statement here",
                             hintFor(error));
  bool lacksEnd = has(error.expected, ";") && error.foundLoc.line != error.previousLoc.line;
  SourceLoc loc = lacksEnd && error.previousEnd.known() ? error.previousEnd : error.foundLoc;
  std::string message =
      "expected " + expectation(error) + place(error) + ", found " + foundText(error);
  return Diagnostic::error(loc, std::move(message), hintFor(error));
}

} // namespace colldsl
