#include "compiler/SourcePieces.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>

namespace colldsl {
namespace {

class Splitter {
public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Piece> run(const std::vector<Token> &tokens) {
    for (const Token &token : tokens) {
      auto begin = static_cast<size_t>(token.text.data() - text_.data());
      takeComments(begin);
      add(kindOf(token.kind), token.text);
      pos_ = begin + token.text.size();
    }
    takeComments(text_.size());
    return std::move(pieces_);
  }

private:
  static PieceKind kindOf(TokenKind kind) {
    switch (kind) {
    case TokenKind::Word:
      return PieceKind::Word;
    case TokenKind::Number:
      return PieceKind::Number;
    case TokenKind::String:
      return PieceKind::String;
    case TokenKind::Punctuation:
      return PieceKind::Sign;
    }
    return PieceKind::Sign;
  }

  /// Up to the next token there are blanks and comments only: the scanner has seen to that.
  void takeComments(size_t end) {
    while (pos_ < end) {
      std::string_view rest = text_.substr(pos_, end - pos_);
      if (rest.starts_with("//")) {
        size_t length = std::min(rest.find('\n'), rest.size());
        add(PieceKind::LineComment, rest.substr(0, length));
        pos_ += length;
      } else if (rest.starts_with("/*")) {
        size_t length = rest.find("*/", 2) + 2;
        add(PieceKind::BlockComment, rest.substr(0, length));
        pos_ += length;
      } else {
        bool isLineEnd = rest.front() == '\n';
        lines_ += isLineEnd;
        blanks_ = isLineEnd ? 0 : blanks_ + (rest.front() != '\r');
        ++pos_;
      }
    }
  }

  void add(PieceKind kind, llvm::StringRef text) {
    text = text.rtrim();
    pieces_.push_back({kind, {text.data(), text.size()}, lines_, blanks_});
    lines_ = blanks_ = 0;
  }

  std::string_view text_;
  size_t pos_ = 0;
  unsigned lines_ = 0, blanks_ = 0;
  std::vector<Piece> pieces_;
};

} // namespace

Result<std::vector<Piece>> piecesOf(std::string_view text, uint16_t file,
                                    const ParseLimits &limits) {
  Result<std::vector<Token>> tokens = scan(text, file, limits);
  if (!tokens)
    return tokens.status();
  return Splitter(text).run(*tokens);
}

} // namespace colldsl
