// Tokens one by one, from which the grammar's statements are parsed.

#include "ir/TextParser.h"

namespace colldsl {
namespace {

constexpr size_t kMaxShownBytes = 40;

// As messages show it: printable, and not too long.
std::string shown(std::string_view text) {
  std::string out;
  appendQuoted(out, text.substr(0, kMaxShownBytes));
  out.front() = out.back() = '\'';
  if (text.size() > kMaxShownBytes)
    out.insert(out.size() - 1, "...");
  return out;
}

std::string describe(const TextToken &token) {
  switch (token.kind) {
  case TextTokenKind::End:
    return "the end of the text";
  case TextTokenKind::NewLine:
    return "the end of the line";
  case TextTokenKind::String:
    return "a string";
  case TextTokenKind::Word:
  case TextTokenKind::Number:
  case TextTokenKind::Symbol:
  case TextTokenKind::Bad:
    return shown(token.text);
  }
  __builtin_unreachable();
}

} // namespace

const TextToken &TextParser::peek(unsigned ahead) {
  while (aheadCount_ <= ahead) {
    const TextToken &token = ahead_[aheadCount_++] = scanner_.next();
    if (token.kind == TextTokenKind::Bad && token.text.empty())
      errors_.stop(Diagnostic::error(locOf(token.place), scanner_.problem()));
  }
  return ahead_[ahead];
}

TextToken TextParser::take() {
  TextToken token = peek();
  for (unsigned i = 1; i < aheadCount_; ++i)
    ahead_[i - 1] = ahead_[i];
  --aheadCount_;
  return token;
}

std::string_view TextParser::peekWord() {
  return peek().kind == TextTokenKind::Word ? peek().text : std::string_view();
}

bool TextParser::takeWord(std::string_view word) {
  bool isHere = peek().isWord(word);
  if (isHere)
    take();
  return isHere;
}

bool TextParser::takeSymbol(std::string_view symbol) {
  bool isHere = peek().isSymbol(symbol);
  if (isHere)
    take();
  return isHere;
}

bool TextParser::expectWord(std::string_view word) {
  return takeWord(word) || failExpected(concat("'", word, "'"));
}

bool TextParser::expectSymbol(std::string_view symbol) {
  return takeSymbol(symbol) || failExpected(concat("'", symbol, "'"));
}

// A block's last statement may share its line with the brace.
bool TextParser::expectLineEnd() {
  const TextToken &token = peek();
  if (token.kind == TextTokenKind::NewLine || token.kind == TextTokenKind::End ||
      token.isSymbol("}"))
    return true;
  return failExpected("the end of the line");
}

std::optional<uint64_t> TextParser::expectNumber(std::string_view what, uint64_t max) {
  if (peek().kind != TextTokenKind::Number) {
    failExpected(what);
    return std::nullopt;
  }
  TextToken token = take();
  if (!token.isTooLarge && token.number <= max)
    return token.number;
  fail(token.place, concat(what, " is ", shown(token.text), ", at most ", max, " is possible"));
  return std::nullopt;
}

std::optional<uint32_t> TextParser::expectNumber32(std::string_view what, uint32_t max) {
  std::optional<uint64_t> number = expectNumber(what, max);
  return number ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

std::optional<std::string> TextParser::expectString(std::string_view what) {
  std::string out;
  if (peek().kind != TextTokenKind::String) {
    failExpected(concat(what, " in quotes"));
    return std::nullopt;
  }
  TextToken token = take();
  if (unescape(token.text, out))
    return out;
  fail(token.place, concat(what, " has an unknown escape"), "known are \\\" \\\\ \\n \\t \\xHH");
  return std::nullopt;
}

void TextParser::skipLine() {
  while (peek().kind != TextTokenKind::NewLine && peek().kind != TextTokenKind::End &&
         !peek().isSymbol("}"))
    take();
}

bool TextParser::fail(TextPlace place, std::string message, std::string hint) {
  errors_.add(Diagnostic::error(locOf(place), std::move(message), std::move(hint)));
  return false;
}

bool TextParser::stop(TextPlace place, std::string message) {
  errors_.stop(Diagnostic::error(locOf(place), std::move(message)));
  return false;
}

bool TextParser::failExpected(std::string_view what) {
  const TextToken &token = peek();
  return fail(token.place, concat("expected ", what, ", found ", describe(token)));
}

} // namespace colldsl
