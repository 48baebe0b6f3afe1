/// Cuts the text form into tokens. Internal to ir.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace colldsl {

/// Both count from 1; columns in bytes.
struct TextPlace {
  uint32_t line = 1;
  uint32_t column = 1;
};

enum class TextTokenKind : uint8_t {
  End,
  NewLine,
  Word,   ///< a letter or '_', then letters, digits and '_'
  Number, ///< digits
  String, ///< text is what stands between the quotes, escapes not yet replaced
  Symbol, ///< one of { } : [ ] ( ) , @ # * + - / .. == = <=
  Bad,    ///< a character that belongs to nothing, or, with empty text, TextScanner::problem()
};

struct TextToken {
  TextTokenKind kind = TextTokenKind::End;
  TextPlace place;
  std::string_view text; ///< views the scanned text
  uint64_t number = 0;
  bool isTooLarge = false; ///< a Number beyond 64 bits

  bool isWord(std::string_view word) const { return kind == TextTokenKind::Word && text == word; }
  bool isSymbol(std::string_view s) const { return kind == TextTokenKind::Symbol && text == s; }
};

/// Looks at each byte once and copies none. Comments and blanks are skipped. After a
/// problem that ends the text (a line over the limit, an open comment or string)
/// there are only End tokens.
class TextScanner {
public:
  TextScanner(std::string_view text, uint64_t maxLineBytes);
  TextToken next();
  const std::string &problem() const { return problem_; }

private:
  void startLine();
  void skipBlanks();
  bool skipComment();
  void setProblem(TextPlace place, std::string problem);
  TextToken stop();
  TextToken take(TextTokenKind kind, uint64_t bytes);
  TextToken takeNumber();
  TextToken takeString();
  TextToken takeSymbol();
  bool startsWith(std::string_view s) const { return text_.substr(at_, s.size()) == s; }
  TextPlace place() const { return {line_, static_cast<uint32_t>(at_ - lineBegin_ + 1)}; }

  std::string_view text_;
  uint64_t maxLineBytes_;
  uint64_t at_ = 0;
  uint64_t lineBegin_ = 0;
  uint32_t line_ = 1;
  std::string problem_;
  TextPlace problemPlace_;
  bool hasStopped_ = false;
};

/// Replaces \" \\ \n \t \xHH; false if there is another escape.
bool unescape(std::string_view raw, std::string &out);

/// Appends the string with quotes and escapes, in one line of printable ASCII.
void appendQuoted(std::string &out, std::string_view text);

/// A Word, as names must be that stand without quotes.
bool isPlainName(std::string_view text);

} // namespace colldsl
