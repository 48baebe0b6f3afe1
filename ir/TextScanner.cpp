#include "ir/TextScanner.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace colldsl {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

uint64_t wordBytes(std::string_view text) {
  auto inWord = [](char c) { return isLetter(c) || isDigit(c); };
  return std::find_if_not(text.begin(), text.end(), inWord) - text.begin();
}

} // namespace

TextScanner::TextScanner(std::string_view text, uint64_t maxLineBytes)
    : text_(text), maxLineBytes_(maxLineBytes) {
  startLine();
}

// Called at the first byte of a line: a line over the limit ends the text.
void TextScanner::startLine() {
  lineBegin_ = at_;
  uint64_t left = text_.size() - at_;
  if (left > maxLineBytes_ && std::memchr(text_.data() + at_, '\n', maxLineBytes_ + 1) == nullptr)
    setProblem(place(), concat("line is longer than the limit of ", maxLineBytes_,
                               " bytes (--max-line-bytes)"));
}

// True if a comment stood here; false with a problem if it never ends.
bool TextScanner::skipComment() {
  if (startsWith("//")) {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }
  if (!startsWith("/*"))
    return false;
  TextPlace begin = place();
  at_ += 2;
  while (at_ < text_.size() && !startsWith("*/") && problem_.empty())
    if (text_[at_++] == '\n') {
      ++line_;
      startLine();
    }
  if (at_ >= text_.size() && problem_.empty())
    setProblem(begin, "the comment that begins here does not end");
  at_ = std::min<uint64_t>(at_ + 2, text_.size());
  return problem_.empty();
}

void TextScanner::skipBlanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == ' ' || c == '\t' || (c == '\r' && startsWith("\r\n")))
      ++at_;
    else if (c != '/' || !skipComment())
      return;
  }
}

void TextScanner::setProblem(TextPlace place, std::string problem) {
  problem_ = std::move(problem);
  problemPlace_ = place;
}

TextToken TextScanner::stop() {
  hasStopped_ = true;
  return {TextTokenKind::Bad, problemPlace_, {}};
}

TextToken TextScanner::take(TextTokenKind kind, uint64_t bytes) {
  TextToken token{kind, place(), text_.substr(at_, bytes)};
  at_ += bytes;
  return token;
}

TextToken TextScanner::takeNumber() {
  const char *begin = text_.data() + at_;
  const char *end = std::find_if_not(begin, text_.data() + text_.size(), isDigit);
  TextToken token = take(TextTokenKind::Number, end - begin);
  std::optional<uint64_t> number = parseWhole<uint64_t>(token.text);
  token.isTooLarge = !number;
  token.number = number.value_or(0);
  return token;
}

TextToken TextScanner::takeString() {
  uint64_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
    end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"') {
    setProblem(place(), "the string that begins here does not end on its line");
    return stop();
  }
  TextToken token = take(TextTokenKind::String, end + 1 - at_);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

TextToken TextScanner::takeSymbol() {
  for (std::string_view two : {"..", "==", "<="})
    if (startsWith(two))
      return take(TextTokenKind::Symbol, 2);
  bool isKnown = std::strchr("{}:[](),@#*+-/=", text_[at_]) != nullptr && text_[at_] != '\0';
  return take(isKnown ? TextTokenKind::Symbol : TextTokenKind::Bad, 1);
}

TextToken TextScanner::next() {
  if (!hasStopped_)
    skipBlanks();
  if (hasStopped_)
    return take(TextTokenKind::End, 0);
  if (!problem_.empty())
    return stop();
  if (at_ >= text_.size())
    return take(TextTokenKind::End, 0);
  char c = text_[at_];
  if (c == '\n') {
    TextToken token = take(TextTokenKind::NewLine, 1);
    ++line_;
    startLine();
    return token;
  }
  if (isDigit(c))
    return takeNumber();
  if (isLetter(c))
    return take(TextTokenKind::Word, wordBytes(text_.substr(at_)));
  return c == '"' ? takeString() : takeSymbol();
}

namespace {

int hexDigit(char c) {
  if (isDigit(c))
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

} // namespace

bool unescape(std::string_view raw, std::string &out) {
  for (; !raw.empty(); raw.remove_prefix(1)) {
    if (raw[0] != '\\') {
      out += raw[0];
      continue;
    }
    raw.remove_prefix(1);
    if (raw.empty())
      return false;
    if (raw[0] == 'x' && raw.size() >= 3 && hexDigit(raw[1]) >= 0 && hexDigit(raw[2]) >= 0) {
      out += static_cast<char>(hexDigit(raw[1]) * 16 + hexDigit(raw[2]));
      raw.remove_prefix(2);
    } else if (raw[0] == '"' || raw[0] == '\\') {
      out += raw[0];
    } else if (raw[0] == 'n' || raw[0] == 't') {
      out += raw[0] == 'n' ? '\n' : '\t';
    } else {
      return false;
    }
  }
  return true;
}

void appendQuoted(std::string &out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte > 0x7e)
      ((out += "\\x") += hex[byte / 16]) += hex[byte % 16];
    else
      out += c;
  }
  out += '"';
}

bool isPlainName(std::string_view text) {
  return !text.empty() && isLetter(text[0]) && wordBytes(text) == text.size();
}

} // namespace colldsl
