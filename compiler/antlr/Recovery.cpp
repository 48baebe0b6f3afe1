#include "compiler/antlr/Recovery.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <optional>

namespace colldsl {
namespace {

using llvm::StringRef;

/// Reads the state of the parser at an error: the tokens that the grammar allows there, and the
/// text that stands there instead.
class ErrorReader {
public:
  ErrorReader(antlr4::Parser &parser, uint16_t file) : parser_(parser), file_(file) {}

  SyntaxError read(const antlr4::RecognitionException &e) const {
    return read(constructOf(e.getCtx()), e.getOffendingToken(), e.getCtx(), expectedTokens(e));
  }
  SyntaxError read(Construct construct, const antlr4::Token *found, antlr4::RuleContext *context,
                   const antlr4::misc::IntervalSet &expected) const;

private:
  antlr4::misc::IntervalSet expectedTokens(const antlr4::RecognitionException &e) const;
  const antlr4::Token *before(const antlr4::Token *token) const;
  std::vector<std::string> wordsOf(const antlr4::misc::IntervalSet &tokens) const;
  static Construct constructOf(const antlr4::RuleContext *context);
  /// True if the token is the first of the construct, and no keyword.
  static bool begins(antlr4::RuleContext *context, const antlr4::Token *token);
  static std::string operationOf(antlr4::RuleContext *context);
  static const antlr4::Token *statementAround(antlr4::RuleContext *context);
  std::string text(size_t begin, size_t end) const;
  std::string restOfStatement(size_t begin) const;

  antlr4::Parser &parser_;
  uint16_t file_;
};

/// The tokens that could have followed the last one that fitted, after a lookahead of several
/// tokens failed.
antlr4::misc::IntervalSet tokensAfter(const antlr4::atn::ATNConfigSet &configs) {
  antlr4::misc::IntervalSet tokens;
  for (const auto &config : configs.configs)
    for (const antlr4::atn::Transition *transition : config->state->transitions)
      if (!transition->isEpsilon())
        tokens.addAll(transition->label());
  return tokens;
}

antlr4::misc::IntervalSet ErrorReader::expectedTokens(const antlr4::RecognitionException &e) const {
  if (auto *noAlternative = dynamic_cast<const antlr4::NoViableAltException *>(&e))
    if (const antlr4::atn::ATNConfigSet *configs = noAlternative->getDeadEndConfigs())
      return tokensAfter(*configs);
  return e.getExpectedTokens();
}

const antlr4::Token *ErrorReader::before(const antlr4::Token *token) const {
  for (size_t i = token->getTokenIndex(); i > 0; --i)
    if (const antlr4::Token *t = parser_.getTokenStream()->get(i - 1); t->getChannel() == 0)
      return t;
  return nullptr;
}

std::vector<std::string> ErrorReader::wordsOf(const antlr4::misc::IntervalSet &tokens) const {
  std::vector<std::string> words;
  for (ssize_t type : tokens.toList())
    words.push_back(StringRef(parser_.getVocabulary().getDisplayName(type)).trim('\'').str());
  return words;
}

Construct ErrorReader::constructOf(const antlr4::RuleContext *context) {
  switch (context->getRuleIndex()) {
  case CollParser::RuleStatement:
  case CollParser::RuleOrderStatement:
  case CollParser::RuleOperationStatement:
    return Construct::Statement;
  case CollParser::RuleOperation:
    return Construct::Operation;
  case CollParser::RuleParameter:
    return Construct::Parameter;
  case CollParser::RuleClause:
    return Construct::Clause;
  default: // the other rules of the grammar have no message of their own
    return Construct::Other;
  }
}

/// The keyword that began the innermost operation or statement around the error.
std::string ErrorReader::operationOf(antlr4::RuleContext *context) {
  for (auto *c = context; c; c = dynamic_cast<antlr4::RuleContext *>(c->parent)) {
    bool isOperation = c->getRuleIndex() == CollParser::RuleOperation ||
                       c->getRuleIndex() == CollParser::RuleStatement;
    if (!isOperation)
      continue;
    const antlr4::Token *first = static_cast<antlr4::ParserRuleContext *>(c)->getStart();
    return first && first->getType() != CollParser::Identifier ? first->getText() : "";
  }
  return "";
}

/// The first token of the innermost statement around the error, or null.
const antlr4::Token *ErrorReader::statementAround(antlr4::RuleContext *context) {
  for (auto *c = context; c; c = dynamic_cast<antlr4::RuleContext *>(c->parent))
    if (c->getRuleIndex() == CollParser::RuleStatement)
      return static_cast<antlr4::ParserRuleContext *>(c)->getStart();
  return nullptr;
}

/// Joins the texts of tokens, with a space where the source has one between them.
std::string ErrorReader::text(size_t begin, size_t end) const {
  std::string all;
  size_t endOfLast = 0, lineOfLast = 0;
  for (size_t i = begin; i < end; ++i) {
    const antlr4::Token *token = parser_.getTokenStream()->get(i);
    if (token->getChannel() != 0)
      continue;
    bool isApart = token->getLine() != lineOfLast || token->getCharPositionInLine() != endOfLast;
    all += !all.empty() && isApart ? " " : "";
    all += token->getText();
    lineOfLast = token->getLine();
    endOfLast = token->getCharPositionInLine() + token->getText().size();
  }
  return all;
}

/// The text from a token to the ';'; empty if that is far off, or another statement comes before
/// it.
std::string ErrorReader::restOfStatement(size_t begin) const {
  constexpr size_t kMostTokens = 40;
  antlr4::TokenStream *tokens = parser_.getTokenStream();
  if (auto *buffered = dynamic_cast<antlr4::BufferedTokenStream *>(tokens))
    buffered->fill(); // with those that the parser has not looked at
  for (size_t i = begin; i < std::min(begin + kMostTokens, tokens->size()); ++i) {
    std::string word = tokens->get(i)->getText();
    if (word == "{" || word == "}")
      return "";
    if (word == ";")
      return text(begin, i);
  }
  return "";
}

bool ErrorReader::begins(antlr4::RuleContext *context, const antlr4::Token *token) {
  auto *rule = dynamic_cast<antlr4::ParserRuleContext *>(context);
  return rule && token && rule->getStart() == token && token->getType() == CollParser::Identifier &&
         constructOf(rule) != Construct::Other;
}

SyntaxError ErrorReader::read(Construct construct, const antlr4::Token *found,
                              antlr4::RuleContext *context,
                              const antlr4::misc::IntervalSet &expected) const {
  SyntaxError error;
  error.construct = construct;
  error.foundLoc = locOf(found, file_);
  error.found = found->getType() == antlr4::Token::EOF ? "" : found->getText();
  error.operation = operationOf(context);
  error.expected = wordsOf(expected);
  if (const antlr4::Token *first = statementAround(context)) {
    error.statementLoc = locOf(first, file_);
    error.before = text(first->getTokenIndex(), found->getTokenIndex());
    error.behind = restOfStatement(found->getTokenIndex() + 1);
  }
  const antlr4::Token *previous = before(found);
  error.previousBegins = begins(context, previous);
  if (!previous)
    return error;
  error.previous = previous->getText();
  error.previousLoc = error.previousEnd = locOf(previous, file_);
  error.previousEnd.column += error.previous.size();
  return error;
}

} // namespace

void Recovery::report(antlr4::Parser *parser, const SyntaxError &error) {
  beginErrorCondition(parser);
  errors_.push_back(describe(error));
  if (errors_.size() >= maxErrors_)
    throw antlr4::ParseCancellationException("too many errors");
}

void Recovery::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &e) {
  if (!inErrorRecoveryMode(parser))
    report(parser, ErrorReader(*parser, file_).read(e));
}

antlr4::Token *Recovery::recoverInline(antlr4::Parser *parser) {
  throw antlr4::InputMismatchException(parser);
}

void Recovery::skip(antlr4::Parser *parser) {
  switch (parser->getContext()->getRuleIndex()) {
  case CollParser::RuleParameters:
  case CollParser::RuleParameter:
    return skipTo(parser, {",", ")"});
  case CollParser::RuleCollectiveDecl:
  case CollParser::RuleClause:
    return skipTo(parser, {"where", "ensures", "{", ";"});
  default: // sequences of statements and declarations
    return skipStatement(parser);
  }
}

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr e) {
  switch (parser->getContext()->getRuleIndex()) {
  case CollParser::RuleFile:
  case CollParser::RuleItem:
  case CollParser::RuleBlock:
  case CollParser::RuleStatement:
  case CollParser::RuleParameter:
  case CollParser::RuleClause:
    skip(parser);
    endErrorCondition(parser);
    break;
  case CollParser::RuleSoleExpression: // nothing comes behind it
    break;
  default: // every rule inside of these hands the error on
    std::rethrow_exception(e);
  }
}

/// The sequence whose next element the parser looks for, if it looks for one.
std::optional<Construct> sequenceAt(antlr4::Parser *parser) {
  antlr4::atn::ATNState *state = parser->getATN().states[parser->getState()];
  bool isLoop = state->getStateType() == antlr4::atn::ATNState::STAR_LOOP_ENTRY ||
                state->getStateType() == antlr4::atn::ATNState::STAR_LOOP_BACK;
  if (!isLoop)
    return std::nullopt;
  switch (parser->getContext()->getRuleIndex()) {
  case CollParser::RuleFile:
    return Construct::File;
  case CollParser::RuleBlock:
    return Construct::Block;
  case CollParser::RuleParameters:
    return Construct::Parameters;
  case CollParser::RuleCollectiveDecl:
    return Construct::Clauses;
  default: // the other sequences are parts of a statement
    return std::nullopt;
  }
}

/// ANTLR calls it where the parser decides to continue a sequence or not. Skips tokens that are no
/// element of the sequence. A token that then still does not fit fails again without another
/// message.
void Recovery::sync(antlr4::Parser *parser) {
  std::optional<Construct> sequence = sequenceAt(parser);
  if (!sequence || inErrorRecoveryMode(parser))
    return;
  antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
  auto fits = [&] { return expected.contains(parser->getCurrentToken()->getType()); };
  bool skipsWhole = *sequence == Construct::File || *sequence == Construct::Block;
  for (bool more = !fits(); more; more = skipsWhole && !fits()) {
    const antlr4::Token *found = parser->getCurrentToken();
    ErrorReader reader(*parser, file_);
    report(parser, reader.read(*sequence, found, parser->getContext(), expected));
    skip(parser);
  }
  if (fits())
    endErrorCondition(parser);
}

/// Skips to behind the next ';', or behind the '}' that closes the next '{', but not out of the
/// current block. Brackets are balanced, as BracketCheck has seen.
void Recovery::skipStatement(antlr4::Parser *parser) {
  size_t depth = 0;
  for (bool more = true; more;) {
    const antlr4::Token *token = parser->getCurrentToken();
    std::string text = token->getText();
    bool isEnd = token->getType() == antlr4::Token::EOF || (text == "}" && depth == 0);
    if (isEnd)
      return;
    parser->consume();
    depth += text == "{" ? 1 : 0;
    depth -= text == "}" ? 1 : 0;
    more = depth > 0 || (text != ";" && text != "}");
  }
}

void Recovery::skipTo(antlr4::Parser *parser, std::initializer_list<std::string_view> stops) {
  size_t depth = 0;
  for (;; parser->consume()) {
    const antlr4::Token *token = parser->getCurrentToken();
    std::string text = token->getText();
    bool isStop = depth == 0 && llvm::is_contained(stops, text);
    if (isStop || token->getType() == antlr4::Token::EOF)
      return;
    depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
    depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
  }
}

} // namespace colldsl
