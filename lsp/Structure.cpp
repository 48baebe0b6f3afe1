#include "lsp/Structure.h"

#include <algorithm>
#include <initializer_list>

namespace colldsl::lsp {
namespace {

bool opens(std::string_view sign) { return sign == "(" || sign == "[" || sign == "{"; }
bool closes(std::string_view sign) { return sign == ")" || sign == "]" || sign == "}"; }

bool isOneOf(std::string_view sign, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), sign) != all.end();
}

} // namespace

Structure::Structure(std::string_view text) : text_(text) {
  if (Result<std::vector<Token>> tokens = scan(text, 0, ParseLimits()))
    tokens_ = tokens.take();
  partner_.assign(tokens_.size(), kNone);
  enclosing_.assign(tokens_.size(), kNone);
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (closes(sign(i)) && !open.empty()) {
      partner_[i] = open.back();
      partner_[open.back()] = i;
      open.pop_back();
    }
    enclosing_[i] = open.empty() ? kNone : open.back();
    if (opens(sign(i)))
      open.push_back(i);
  }
}

size_t Structure::beginOf(size_t token) const {
  return static_cast<size_t>(tokens_[token].text.data() - text_.data());
}

/// The first token that ends behind the offset; the number of tokens if there is none.
size_t Structure::tokenAt(size_t offset) const {
  auto it = std::partition_point(tokens_.begin(), tokens_.end(), [&](const Token &t) {
    return static_cast<size_t>(t.text.data() - text_.data()) + t.text.size() <= offset;
  });
  return static_cast<size_t>(it - tokens_.begin());
}

/// The last token that begins before the offset, or kNone.
size_t Structure::tokenBefore(size_t offset) const {
  auto it = std::partition_point(tokens_.begin(), tokens_.end(), [&](const Token &t) {
    return static_cast<size_t>(t.text.data() - text_.data()) < offset;
  });
  return it == tokens_.begin() ? kNone : static_cast<size_t>(it - tokens_.begin()) - 1;
}

/// The end of the innermost brackets around a token, or of the text.
size_t Structure::closerAround(size_t token) const {
  size_t opener = enclosing_[token];
  size_t closer = opener == kNone ? kNone : partner_[opener];
  return closer == kNone ? text_.size() : beginOf(closer);
}

/// The first token of the declaration around a token.
size_t Structure::declBegin(size_t token) const {
  auto ends = [&](size_t i) {
    return enclosing_[i] == kNone && (sign(i) == ";" || sign(i) == "}");
  };
  while (token > 0 && !ends(token - 1))
    --token;
  return token;
}

/// The offset behind the first block or semicolon outside of all brackets, from the token on.
size_t Structure::declEnd(size_t token) const {
  for (size_t i = token; i < tokens_.size(); ++i) {
    if (enclosing_[i] != kNone)
      continue;
    if (sign(i) == ";")
      return endOf(i);
    if (sign(i) == "{")
      return partner_[i] == kNone ? text_.size() : endOf(partner_[i]);
  }
  return text_.size();
}

/// The token behind the invariant around a token: it begins the next one, or the block of its loop.
/// kNone: the token is in none.
size_t Structure::invariantEnd(size_t token) const {
  size_t opener = enclosing_[token];
  if (opener == kNone || sign(opener) != "{")
    return kNone;
  for (size_t i = token; i < tokens_.size(); ++i)
    if (enclosing_[i] == opener && isOneOf(sign(i), {"invariant", "{", ";", "}"}))
      return sign(i) == "invariant" || sign(i) == "{" ? i : kNone;
  return kNone;
}

Structure::Piece Structure::scopeOf(size_t name) const {
  size_t token = tokenAt(name);
  if (token >= tokens_.size())
    return {name, text_.size()};
  size_t opener = enclosing_[token];
  bool isOfFor = token > 0 && sign(token - 1) == "for";
  bool isStatement = token > 1 && isOneOf(sign(token - 2), {"{", "}", ";"});
  if (isOfFor)
    for (size_t i = token + 1; i < tokens_.size() && enclosing_[i] == opener; ++i) {
      if (sign(i) == ":" && !isStatement) {
        if (size_t end = invariantEnd(i); end != kNone)
          return {name, beginOf(end)};
        break; // a comprehension, or a contract
      }
      if (sign(i) == "{")
        return {name, partner_[i] == kNone ? text_.size() : beginOf(partner_[i])};
      if (opens(sign(i)) && partner_[i] != kNone)
        i = partner_[i] - 1;
    }
  return {name, opener == kNone ? declEnd(token) : closerAround(token)};
}

Structure::Piece Structure::declAround(size_t offset) const {
  if (tokens_.empty())
    return {offset, text_.size()};
  size_t first = declBegin(std::min(tokenAt(offset), tokens_.size() - 1));
  return {beginOf(first), declEnd(first)};
}

/// True if the token begins a clause. A clause follows the parameters or another clause, which end
/// with a bracket, a name or a number.
bool Structure::beginsClause(size_t token) const {
  if (enclosing_[token] != kNone || token == 0)
    return false;
  if (token + 1 < tokens_.size() && sign(token + 1) == "aliases")
    return tokens_[token].kind == TokenKind::Word;
  if (!isOneOf(sign(token), {"where", "ensures"}))
    return false;
  std::string_view before = sign(token - 1);
  if (tokens_[token - 1].kind == TokenKind::Punctuation)
    return before == ")" || before == "]";
  return !isOneOf(before,
                  {"where", "ensures", "aliases", "at", "in", "if", "and", "or", "not", "xor"});
}

std::optional<Structure::Piece> Structure::clauseAt(size_t keyword) const {
  size_t token = tokenAt(keyword);
  if (token >= tokens_.size() || token == 0)
    return std::nullopt;
  size_t first = sign(token) == "aliases" ? token - 1 : token;
  size_t decl = declBegin(token);
  bool isOfCollective = sign(decl) == "collective" || sign(decl) == "deterministic";
  if (!isOfCollective || first <= decl || !beginsClause(first))
    return std::nullopt;
  size_t last = token;
  while (last + 1 < tokens_.size() && !beginsClause(last + 1) &&
         !isOneOf(sign(last + 1), {"{", ";"}))
    ++last;
  return Piece{beginOf(first), endOf(last)};
}

Structure::Piece Structure::partAround(size_t offset) const {
  size_t token = tokenAt(offset);
  if (token >= tokens_.size())
    return {offset, offset};
  size_t level = enclosing_[token];
  bool hasBlocks = level == kNone || sign(level) == "{"; // else braces hold candidates
  auto ends = [&](size_t i) {
    return enclosing_[i] == level &&
           (sign(i) == "," || sign(i) == ";" || (hasBlocks && sign(i) == "{"));
  };
  size_t first = token, last = token;
  while (first > 0 && first - 1 != level && !ends(first - 1) && !beginsClause(first) &&
         !(enclosing_[first - 1] == level && sign(first - 1) == "}"))
    --first;
  while (last + 1 < tokens_.size() && !ends(last + 1) && !beginsClause(last + 1) &&
         (level == kNone || last + 1 != partner_[level]))
    ++last;
  return {beginOf(first), endOf(last)};
}

/// The arguments between the parentheses that a token opens, up to the token `last`.
std::vector<Structure::Argument> Structure::argumentsOf(size_t opener, size_t last) const {
  std::vector<Argument> arguments(1);
  for (size_t i = opener + 1; i <= last; ++i) {
    if (enclosing_[i] != opener)
      continue;
    if (sign(i) == ",") {
      arguments.emplace_back();
    } else if (arguments.back().first.empty()) {
      bool isNamed = i + 1 < tokens_.size() && sign(i + 1) == "=";
      arguments.back() = {sign(i), isNamed && tokens_[i].kind == TokenKind::Word};
    }
  }
  return arguments;
}

/// The call whose parenthesis is `opener`. Nothing: it belongs to a declaration, a clause or a
/// value.
std::optional<Structure::Call> Structure::callOf(size_t opener, size_t last) const {
  if (opener == 0 || tokens_[opener - 1].kind != TokenKind::Word || beginsClause(opener - 1))
    return std::nullopt;
  std::string_view before = opener > 1 ? sign(opener - 2) : std::string_view();
  if (isOneOf(before, {"collective", "function", "tree", "graph"}))
    return std::nullopt;
  return Call{sign(opener - 1), before == ".", argumentsOf(opener, last)};
}

std::vector<Structure::Call> Structure::callsAround(size_t offset) const {
  std::vector<Call> calls;
  size_t last = tokenBefore(offset);
  if (last == kNone)
    return calls;
  size_t opener = opens(sign(last)) ? last : enclosing_[last];
  for (; opener != kNone && sign(opener) != "{"; opener = enclosing_[opener]) {
    for (size_t i = opener + 1; i <= last; ++i)
      if (enclosing_[i] == opener && sign(i) == ";")
        return calls; // the statement ended, without the closing parenthesis
    if (sign(opener) != "(")
      continue;
    if (std::optional<Call> call = callOf(opener, last))
      calls.push_back(std::move(*call));
  }
  return calls;
}

size_t Structure::depthAt(size_t offset) const {
  size_t token = tokenBefore(offset);
  if (token == kNone)
    return 0;
  size_t depth = opens(sign(token));
  for (size_t opener = enclosing_[token]; opener != kNone; opener = enclosing_[opener])
    ++depth;
  return depth;
}

} // namespace colldsl::lsp
