#include "compiler/Format.h"

#include "compiler/SourcePieces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

// One walk over words, signs and comments. A line begins where the writer began one. Its indent
// follows from the constructs that are open there: two columns for each block; behind an open
// bracket the column behind it; two more where a statement, a clause or an argument continues. Two
// pieces of a line have one blank between them, except the pairs that isTight() lists.
// Example: `for k in 0 .. ranks-1{send y [k] to p;}` is
//          `for k in 0..ranks - 1 { send y[k] to p; }`.

namespace colldsl {
namespace {

constexpr unsigned kStep = 2;

/// Words behind which an expression may begin; but each may be a name, too.
bool isKeyword(llvm::StringRef word) {
  constexpr llvm::StringRef kWords[] = {
      "after",   "along",   "and",       "at",        "before",  "calc",     "child",
      "combine", "copy",    "else",      "for",       "from",    "if",       "in",
      "into",    "key",     "not",       "of",        "or",      "over",     "parent",
      "recv",    "send",    "signal",    "tag",       "to",      "wait",     "weight",
      "where",   "ensures", "invariant", "irequires", "aliases", "requires", "xor"};
  return llvm::is_contained(kWords, word);
}

class Formatter {
public:
  explicit Formatter(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  std::string run() {
    for (at_ = 0; at_ < pieces_.size(); ++at_) {
      const Piece &piece = pieces_[at_];
      std::optional<Open> closed;
      if (isCloser(piece) && !open_.empty())
        closed = open_.pop_back_val();
      if (at_ == 0 || piece.linesBefore > 0)
        beginLine(piece, closed);
      else
        line_.append(blanksBefore(piece, closed), ' ');
      put(piece);
      note(piece, closed);
    }
    endLine();
    return std::move(out_);
  }

private:
  struct Open {
    bool isBlock = false;
    unsigned indent = 0;    ///< of the line with the bracket, or of the statement whose block it is
    unsigned column = 0;    ///< behind the bracket
    bool isLast = false;    ///< of its line
    unsigned questions = 0; ///< '?' whose ':' is still to come
  };

  static bool isOpener(const Piece &p) { return p.is("(") || p.is("[") || p.is("{"); }
  static bool isCloser(const Piece &p) { return p.is(")") || p.is("]") || p.is("}"); }
  bool isInBracket() const { return !open_.empty() && !open_.back().isBlock; }
  bool goesOn() const { return previous_ && !previous_->is(";") && !endsBlock_; }

  // Lines

  void beginLine(const Piece &piece, const std::optional<Open> &closed) {
    endLine();
    bool isBehindOpener = at_ > 0 && pieces_[at_ - 1].is("{");
    if (at_ > 0 && piece.linesBefore > 1 && !isBehindOpener && !piece.is("}"))
      out_ += '\n';
    indent_ = indentOf(piece, closed);
    line_.assign(indent_, ' ');
  }

  void endLine() {
    if (!line_.empty())
      out_ += line_ + '\n';
    line_.clear();
  }

  unsigned indentOf(const Piece &piece, const std::optional<Open> &closed) {
    if (closed)
      return closed->isBlock || closed->isLast ? closed->indent : closed->column - 1;
    if (isInBracket()) {
      const Open &open = open_.back();
      unsigned base = open.isLast ? open.indent + 2 * kStep : open.column;
      bool begins = previous_->is(",") || isOpener(*previous_);
      return begins ? base : base + kStep;
    }
    unsigned base = open_.empty() ? 0 : open_.back().indent + kStep;
    if (!goesOn())
      inClause_ = false;
    if (!goesOn() || piece.is("{"))
      return base;
    bool isClause = piece.is("invariant") || (open_.empty() && beginsClause(piece));
    inClause_ |= isClause;
    return base + kStep + (inClause_ && !isClause ? kStep : 0);
  }

  bool beginsClause(const Piece &piece) const {
    if (piece.isComment() || piece.is("where") || piece.is("ensures"))
      return true;
    return at_ + 1 < pieces_.size() && pieces_[at_ + 1].is("aliases");
  }

  void put(const Piece &piece) {
    for (char c : piece.text) // of a block comment, whose lines stay as they are
      if (c == '\n')
        endLineOfComment();
      else if (c != '\r')
        line_ += c;
  }

  void endLineOfComment() {
    out_ += llvm::StringRef(line_).rtrim().str() + '\n';
    line_.clear();
  }

  /// Tracks open brackets behind a piece, and ends of statements.
  void note(const Piece &piece, const std::optional<Open> &closed) {
    if (piece.isComment())
      return;
    if (isOpener(piece)) {
      bool isBlock = piece.is("{") && !isInBracket();
      bool isLast = at_ + 1 == pieces_.size() || pieces_[at_ + 1].linesBefore > 0;
      unsigned indent = isBlock ? (open_.empty() ? 0 : open_.back().indent + kStep) : indent_;
      open_.push_back({isBlock, indent, static_cast<unsigned>(line_.size()), isLast, 0});
    }
    unsigned &questions = open_.empty() ? questions_ : open_.back().questions;
    if (piece.is("?"))
      ++questions;
    else if (piece.is(":") && questions > 0)
      --questions;
    else if (piece.is(";"))
      questions = 0;
    endsBlock_ = (isOpener(piece) && open_.back().isBlock) || (closed && closed->isBlock);
    isUnary_ = isSign(piece) && isUnary();
    previous_ = &piece;
  }

  // Blanks

  /// The number of blanks before a piece that continues a line.
  unsigned blanksBefore(const Piece &piece, const std::optional<Open> &closed) const {
    if (piece.isComment() || pieces_[at_ - 1].isComment())
      return std::max(1u, piece.blanksBefore);
    if (isTight(piece, closed))
      return 0;
    bool isColumn = (piece.is("{") && !isInBracket()) || piece.is("=");
    return isColumn ? std::max(1u, piece.blanksBefore) : 1;
  }

  bool isTight(const Piece &next, const std::optional<Open> &closed) const {
    const Piece &previous = *previous_;
    for (const char *sign : {",", ";", ")", "]"})
      if (next.is(sign))
        return true;
    for (const char *sign : {".", "..", "..=", "@"})
      if (next.is(sign) || previous.is(sign))
        return true;
    if (previous.is("(") || previous.is("[") || isUnary_)
      return true;
    if (previous.is("{") && isInBracket())
      return true;
    if (next.is("}"))
      return closed && !closed->isBlock;
    if (next.is(":"))
      return (open_.empty() ? questions_ : open_.back().questions) == 0;
    if (next.is("(") || next.is("["))
      return followsName(next);
    return false;
  }

  /// True for the bracket of a call or an index. Behind a keyword the writer's blank decides.
  bool followsName(const Piece &next) const {
    if (previous_->is(")") || previous_->is("]"))
      return true;
    if (previous_->kind != PieceKind::Word)
      return false;
    return !isKeyword(previous_->text) || next.blanksBefore == 0;
  }

  static bool isSign(const Piece &piece) { return piece.is("-") || piece.is("+"); }

  /// Must be called before the piece becomes the previous one.
  bool isUnary() const {
    if (!previous_ || previous_->kind == PieceKind::Number || previous_->kind == PieceKind::String)
      return false;
    if (previous_->kind == PieceKind::Sign)
      return !previous_->is(")") && !previous_->is("]") && !previous_->is("}");
    bool isTightBehind = at_ + 1 < pieces_.size() && pieces_[at_ + 1].blanksBefore == 0 &&
                         pieces_[at_ + 1].linesBefore == 0;
    return isKeyword(previous_->text) && isTightBehind;
  }

  std::vector<Piece> pieces_;
  size_t at_ = 0;
  std::string out_, line_;
  unsigned indent_ = 0; // of the line at hand
  llvm::SmallVector<Open> open_;
  const Piece *previous_ = nullptr; // the last one that is no comment
  bool endsBlock_ = false;          // it begins or ends a block
  bool isUnary_ = false;            // it is a sign of one operand
  bool inClause_ = false;           // of a declaration or a loop
  unsigned questions_ = 0;          // outside of all brackets
};

} // namespace

Result<std::string> formatSource(std::string_view text, uint16_t file, const ParseLimits &limits) {
  Result<std::vector<Piece>> pieces = piecesOf(text, file, limits);
  if (!pieces)
    return pieces.status();
  return Formatter(pieces.take()).run();
}

} // namespace colldsl
