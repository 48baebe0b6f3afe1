#include "compiler/Scanner.h"

#include "compiler/TextCheck.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace colldsl {
namespace {

using llvm::formatv;

// Punctuation of several signs: of colldsl, and of other languages that the parser has a hint for.
constexpr std::string_view kLongPunctuation[] = {"..=", "..", "==", "!=", "<=", ">=", "<<", ">>",
                                                 "&&",  "||", "->", "=>", "+=", "-=", "::"};

bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

class Scanner {
public:
  Scanner(std::string_view text, uint16_t file, const ParseLimits &limits)
      : text_(text), file_(file), limits_(limits) {}

  Result<std::vector<Token>> run();

private:
  Status scanNext();
  Status skipBlockComment();
  Status scanString();
  Status scanPunctuation();
  Status add(TokenKind kind, size_t length);

  std::string_view rest() const { return text_.substr(pos_); }
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  SourceLoc loc() const { return {line_, static_cast<uint16_t>(pos_ - lineStart_ + 1), file_}; }
  void skip(size_t length);

  std::string_view text_;
  uint16_t file_;
  const ParseLimits &limits_;
  size_t pos_ = 0;
  uint32_t line_ = 1;
  size_t lineStart_ = 0;
  std::vector<Token> tokens_;
};

/// Moves past text that may hold line ends.
void Scanner::skip(size_t length) {
  for (size_t end = pos_ + length; pos_ < end; ++pos_) {
    if (text_[pos_] != '\n')
      continue;
    ++line_;
    lineStart_ = pos_ + 1;
  }
}

Status Scanner::add(TokenKind kind, size_t length) {
  if (tokens_.size() == limits_.maxTokens)
    return Status::error(
        loc(),
        formatv("the file has more than {0} tokens, the limit (--max-tokens)", limits_.maxTokens));
  tokens_.push_back({kind, loc(), text_.substr(pos_, length)});
  pos_ += length;
  return {};
}

Status Scanner::skipBlockComment() {
  size_t end = text_.find("*/", pos_ + 2);
  if (end == std::string_view::npos)
    return Status::error(loc(), "this comment is never closed: '*/' is missing");
  skip(end + 2 - pos_);
  return {};
}

Status Scanner::scanString() {
  auto isLineEnd = [this](size_t i) { return at(i) == '\n' || at(i) == '\r' || at(i) == '\0'; };
  size_t end = pos_ + 1;
  while (at(end) != '"' && !isLineEnd(end))
    end += at(end) == '\\' && !isLineEnd(end + 1) ? 2 : 1;
  if (at(end) == '"')
    return add(TokenKind::String, end + 1 - pos_);
  return Status::error(loc(), "this string is never closed: '\"' is missing on its line");
}

Status Scanner::scanPunctuation() {
  if (auto c = static_cast<unsigned char>(text_[pos_]); c >= 0x80)
    return Status::error(loc(), formatv("'{0}' can stand in comments and strings only",
                                        rest().substr(0, llvm::getNumBytesForUTF8(c))));
  for (std::string_view longer : kLongPunctuation)
    if (rest().starts_with(longer))
      return add(TokenKind::Punctuation, longer.size());
  return add(TokenKind::Punctuation, 1);
}

Status Scanner::scanNext() {
  char c = text_[pos_];
  if (llvm::isSpace(c)) {
    skip(1);
    return {};
  }
  if (rest().starts_with("//")) {
    pos_ = std::min(text_.find('\n', pos_), text_.size());
    return {};
  }
  if (rest().starts_with("/*"))
    return skipBlockComment();
  if (c == '"')
    return scanString();
  if (!isWordCharacter(c))
    return scanPunctuation();
  auto end = std::find_if_not(text_.begin() + pos_, text_.end(), isWordCharacter);
  return add(llvm::isDigit(c) ? TokenKind::Number : TokenKind::Word, end - text_.begin() - pos_);
}

Result<std::vector<Token>> Scanner::run() {
  if (Status status = checkText(text_, file_, limits_); !status)
    return status;
  while (pos_ < text_.size())
    if (Status status = scanNext(); !status)
      return status;
  return std::move(tokens_);
}

} // namespace

Result<std::vector<Token>> scan(std::string_view text, uint16_t file, const ParseLimits &limits) {
  return Scanner(text, file, limits).run();
}

} // namespace colldsl
