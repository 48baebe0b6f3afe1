#include "compiler/antlr/Recovery.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace colldsl {
namespace {

using llvm::StringRef;

/// What the grammar allows where the parser gave up, and what stands there instead.
class ErrorReader {
public:
  ErrorReader(antlr4::Parser &parser, uint16_t file) : parser_(parser), file_(file) {}

  SyntaxError read(const antlr4::RecognitionException &e) const {
    return read(e.getOffendingToken(), e.getCtx(), expectedTokens(e));
  }
  SyntaxError read(const antlr4::Token *found, antlr4::RuleContext *context,
                   const antlr4::misc::IntervalSet &expected) const;

private:
  antlr4::misc::IntervalSet expectedTokens(const antlr4::RecognitionException &e) const;
  const antlr4::Token *before(const antlr4::Token *token) const;
  std::vector<std::string> wordsOf(const antlr4::misc::IntervalSet &tokens) const;
  std::vector<std::string> startersOf(antlr4::RuleContext *context,
                                      const antlr4::Token *first) const;
  static Construct constructOf(const antlr4::RuleContext *context);
  static std::string operationOf(antlr4::RuleContext *context);

  antlr4::Parser &parser_;
  uint16_t file_;
};

/// Where several tokens were looked at before none fitted: what could have followed the
/// last that did.
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
  switch (context ? context->getRuleIndex() : size_t{CollParser::RuleFile}) {
  case CollParser::RuleFile:
    return Construct::File;
  case CollParser::RuleBlock:
    return Construct::Block;
  case CollParser::RuleStatement:
  case CollParser::RuleOrderStatement:
  case CollParser::RuleOperationStatement:
    return Construct::Statement;
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

/// The keywords that could stand for the token, if that begins the construct.
std::vector<std::string> ErrorReader::startersOf(antlr4::RuleContext *context,
                                                 const antlr4::Token *first) const {
  auto *rule = dynamic_cast<antlr4::ParserRuleContext *>(context);
  bool begins = rule && first && rule->getStart() == first &&
                first->getType() == CollParser::Identifier && constructOf(rule) != Construct::Other;
  if (!begins)
    return {};
  const antlr4::atn::ATN &atn = parser_.getATN();
  return wordsOf(atn.nextTokens(atn.ruleToStartState[rule->getRuleIndex()]));
}

SyntaxError ErrorReader::read(const antlr4::Token *found, antlr4::RuleContext *context,
                              const antlr4::misc::IntervalSet &expected) const {
  SyntaxError error;
  error.construct = constructOf(context);
  error.foundLoc = locOf(found, file_);
  error.found = found->getType() == antlr4::Token::EOF ? "" : found->getText();
  error.operation = operationOf(context);
  error.expected = wordsOf(expected);
  const antlr4::Token *previous = before(found);
  error.starters = startersOf(context, previous);
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

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr e) {
  switch (parser->getContext()->getRuleIndex()) {
  case CollParser::RuleFile:
  case CollParser::RuleItem:
  case CollParser::RuleBlock:
  case CollParser::RuleStatement:
    skipStatement(parser);
    break;
  case CollParser::RuleParameter:
    skipTo(parser, {",", ")", "{"});
    break;
  case CollParser::RuleClause:
    skipTo(parser, {"where", "ensures", "{"});
    break;
  default: // every rule inside of these hands the error on
    std::rethrow_exception(e);
  }
}

/// Called where the parser decides whether to go on with a list: skips what is not an
/// element, where a whole statement or declaration may be skipped.
void Recovery::sync(antlr4::Parser *parser) {
  size_t rule = parser->getContext()->getRuleIndex();
  bool isSequence = rule == CollParser::RuleFile || rule == CollParser::RuleBlock;
  if (!isSequence || inErrorRecoveryMode(parser))
    return;
  const antlr4::atn::ATN &atn = parser->getATN();
  auto expected = atn.nextTokens(atn.states[parser->getState()]);
  antlr4::TokenStream *tokens = parser->getTokenStream();
  while (tokens->LA(1) != antlr4::Token::EOF && !expected.contains(tokens->LA(1))) {
    const antlr4::Token *found = parser->getCurrentToken();
    report(parser, ErrorReader(*parser, file_).read(found, parser->getContext(), expected));
    skipStatement(parser);
  }
}

/// To behind the next ';', or behind the '}' that closes the next '{', but not out of
/// the block that we are in. Brackets are balanced: the screen has looked.
void Recovery::skipStatement(antlr4::Parser *parser) {
  size_t depth = 0;
  for (;;) {
    const antlr4::Token *token = parser->getCurrentToken();
    std::string text = token->getText();
    bool isEnd = token->getType() == antlr4::Token::EOF || (text == "}" && depth == 0);
    if (isEnd)
      break;
    parser->consume();
    depth += text == "{" ? 1 : 0;
    depth -= text == "}" ? 1 : 0;
    bool isComplete = depth == 0 && (text == ";" || text == "}");
    if (isComplete)
      break;
  }
  endErrorCondition(parser);
}

void Recovery::skipTo(antlr4::Parser *parser, std::initializer_list<std::string_view> stops) {
  size_t depth = 0;
  for (;;) {
    const antlr4::Token *token = parser->getCurrentToken();
    std::string text = token->getText();
    bool isStop = depth == 0 && llvm::is_contained(stops, text);
    if (isStop || token->getType() == antlr4::Token::EOF)
      break;
    depth += text == "(" || text == "[" ? 1 : 0;
    depth -= depth > 0 && (text == ")" || text == "]") ? 1 : 0;
    parser->consume();
  }
  endErrorCondition(parser);
}

} // namespace colldsl
