#include "compiler/Brackets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace colldsl {
namespace {

using llvm::formatv;

char closingOf(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/// Counts the chain of a token: all tokens since the last ',' or ';' or brace, with those before
/// the brackets around them. Operators nest to the left and to the right, and each costs a token.
class BracketCheck {
public:
  explicit BracketCheck(const ParseLimits &limits) : limits_(limits) {}

  std::vector<Diagnostic> run(const std::vector<Token> &tokens);

private:
  struct Open {
    char bracket;
    SourceLoc loc;
    uint32_t chain; ///< up to and with the bracket
    bool isOfLoop;  ///< behind 'for'
  };

  void count(const Token &token);
  void look(const Token &token);
  void open(char bracket, SourceLoc loc);
  void close(char bracket, SourceLoc loc);
  void endStatement(SourceLoc loc);
  void reportUnclosed(SourceLoc loc, char found, std::string hint = "");

  bool inExpression() const { return !open_.empty() && open_.back().bracket != '{'; }
  uint32_t chainBefore() const { return inExpression() ? open_.back().chain : 0; }
  void report(Diagnostic d) {
    errors_.push_back(std::move(d));
    failed_ |= errors_.size() >= limits_.maxErrors;
  }
  void fail(SourceLoc loc, std::string message) {
    report(Diagnostic::error(loc, std::move(message)));
    failed_ = true;
  }

  const ParseLimits &limits_;
  std::vector<Open> open_;
  uint32_t chain_ = 0;
  bool isBehindFor_ = false;
  bool failed_ = false;
  std::vector<Diagnostic> errors_;
};

void BracketCheck::count(const Token &token) {
  if (++chain_ > limits_.maxChain)
    fail(token.loc, formatv("this expression is too long: more than {0} tokens with those around "
                            "it, the limit (--max-chain)",
                            limits_.maxChain));
}

void BracketCheck::open(char bracket, SourceLoc loc) {
  if (open_.size() >= limits_.maxNesting)
    fail(loc, formatv("brackets are nested deeper than {0}, the limit (--max-nesting)",
                      limits_.maxNesting));
  open_.push_back({bracket, loc, chain_, bracket == '(' && isBehindFor_});
  if (bracket == '{')
    chain_ = 0;
}

void BracketCheck::reportUnclosed(SourceLoc loc, char found, std::string hint) {
  char bracket = open_.back().bracket;
  Diagnostic d = Diagnostic::error(
      loc, formatv("expected '{0}' before '{1}'", closingOf(bracket), found), std::move(hint));
  d.notes.push_back(Diagnostic::note(open_.back().loc, formatv("'{0}' is opened here", bracket)));
  report(std::move(d));
}

void BracketCheck::close(char bracket, SourceLoc loc) {
  auto isPartner = [bracket](const Open &open) { return closingOf(open.bracket) == bracket; };
  if (llvm::none_of(open_, isPartner))
    return report(Diagnostic::error(loc, formatv("'{0}' closes nothing", bracket)));
  if (!isPartner(open_.back()))
    reportUnclosed(loc, bracket);
  while (!isPartner(open_.back()))
    open_.pop_back();
  uint32_t before = open_.back().chain;
  open_.pop_back();
  bool endsBlock = bracket == '}' && !inExpression();
  chain_ = endsBlock ? 0 : before;
}

/// Ends a statement at a ';'. Only '{' may enclose one, so other brackets that are open here lack
/// their partner.
void BracketCheck::endStatement(SourceLoc loc) {
  if (inExpression())
    reportUnclosed(loc, ';',
                   open_.back().isOfLoop ? "a loop is written 'for i in a..b { ... }'" : "");
  while (inExpression())
    open_.pop_back();
  chain_ = 0;
}

void BracketCheck::look(const Token &token) {
  char c = token.kind == TokenKind::Punctuation ? token.text.front() : 'a';
  if (c == ')' || c == ']' || c == '}')
    return close(c, token.loc);
  if (c == ';')
    return endStatement(token.loc);
  if (c == ',') {
    chain_ = chainBefore();
    return;
  }
  count(token);
  if (c == '(' || c == '[' || c == '{')
    open(c, token.loc);
  isBehindFor_ = token.text == "for";
}

std::vector<Diagnostic> BracketCheck::run(const std::vector<Token> &tokens) {
  for (const Token &token : tokens) {
    look(token);
    if (failed_)
      return std::move(errors_);
  }
  if (!open_.empty())
    report(Diagnostic::error(open_.back().loc,
                             formatv("this '{0}' is never closed", open_.back().bracket)));
  return std::move(errors_);
}

} // namespace

std::vector<Diagnostic> checkBrackets(const std::vector<Token> &tokens, const ParseLimits &limits) {
  return BracketCheck(limits).run(tokens);
}

} // namespace colldsl
