#include "tools/lsp/Structure.h"

#include <algorithm>

namespace colldsl::lsp {
namespace {

bool opens(std::string_view sign) { return sign == "(" || sign == "[" || sign == "{"; }
bool closes(std::string_view sign) { return sign == ")" || sign == "]" || sign == "}"; }

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

/// Behind the first block or semicolon at the depth of the token.
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

Structure::Piece Structure::scopeOf(size_t name) const {
  size_t token = tokenAt(name);
  if (token >= tokens_.size())
    return {name, text_.size()};
  size_t opener = enclosing_[token];
  bool isOfFor = token > 0 && sign(token - 1) == "for";
  if (isOfFor)
    for (size_t i = token + 1; i < tokens_.size() && enclosing_[i] == opener; ++i) {
      if (sign(i) == ":")
        break; // a comprehension, or a contract
      if (sign(i) == "{")
        return {name, partner_[i] == kNone ? text_.size() : beginOf(partner_[i])};
      if (opens(sign(i)) && partner_[i] != kNone)
        i = partner_[i] - 1;
    }
  return {name, opener == kNone ? declEnd(token) : closerAround(token)};
}

Structure::Piece Structure::declAround(size_t name) const {
  size_t token = tokenAt(name);
  if (token >= tokens_.size())
    return {name, text_.size()};
  size_t first = token;
  while (first > 0 && sign(first - 1) != ";" && sign(first - 1) != "}")
    --first;
  return {beginOf(first), declEnd(token)};
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
  while (first > 0 && first - 1 != level && !ends(first - 1) &&
         !(enclosing_[first - 1] == level && sign(first - 1) == "}"))
    --first;
  while (last + 1 < tokens_.size() && !ends(last + 1) &&
         (level == kNone || last + 1 != partner_[level]))
    ++last;
  return {beginOf(first), endOf(last)};
}

std::optional<std::string_view> Structure::calleeAt(size_t offset) const {
  size_t token = tokenBefore(offset);
  if (token == kNone)
    return std::nullopt;
  size_t opener = opens(sign(token)) ? token : enclosing_[token];
  while (opener != kNone && sign(opener) == "[")
    opener = enclosing_[opener];
  if (opener == kNone || opener == 0 || sign(opener) != "(" ||
      tokens_[opener - 1].kind != TokenKind::Word)
    return std::nullopt;
  return sign(opener - 1);
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
