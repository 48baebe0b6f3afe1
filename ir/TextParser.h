/// The parser of the text form, as a class over several files: TextParser.cpp has the
/// file and its ranks, TextParserOps.cpp ops, dependencies and promises,
/// TextParserBuffers.cpp buffers and slices, TextParserTokens.cpp the tokens.
/// Internal to ir.
///
/// A parse function takes the tokens of the construct that it is named for. One that returns
/// bool or an optional has recorded an error when it fails; the statement is given up then, and
/// reading goes on in the next line.
#pragma once

#include "ir/Concat.h"
#include "ir/TextErrors.h"
#include "ir/TextForm.h"
#include "ir/TextLink.h"
#include "ir/TextScanner.h"

#include <array>
#include <map>
#include <optional>
#include <set>

namespace colldsl {

/// scale * n + offset, over a denominator.
struct PositionText {
  int64_t scale = 0;
  int64_t offset = 0;
  uint32_t denominator = 1;
};

/// Two positions over one denominator.
struct RangeText {
  int64_t beginScale = 0, beginOffset = 0;
  int64_t endScale = 0, endOffset = 0;
  uint32_t denominator = 1;
};

/// A slice whose buffer may stand further down.
struct SliceText {
  TextPlace place;
  std::string name;
  uint32_t ordinal = 1;
  std::optional<uint32_t> block;
  std::optional<RangeText> range;
};

/// The range from the beginning of a buffer to its end.
RangeText extentOf(const Buffer &buffer);
void setRange(Slice &slice, const RangeText &range);
/// The slice without its buffer; `whole` is its range if the text has neither range nor block.
Slice sliceOf(const SliceText &text, const RangeText &whole);
/// 'x', or 'x', number 2.
std::string bufferWords(std::string_view name, uint32_t ordinal);

class TextParser {
public:
  TextParser(std::string_view text, std::string_view fileName, const TextLimits &limits);
  ParsedText run();

private:
  using BufferKey = std::pair<uint32_t, uint32_t>; ///< index of the name, and ordinal
  using BufferIds = std::map<BufferKey, BufferId>;

  // Tokens.
  const TextToken &peek(unsigned ahead = 0);
  TextToken take();
  std::string_view peekWord(); ///< empty if there is none
  bool takeWord(std::string_view word);
  bool takeSymbol(std::string_view symbol);
  bool expectWord(std::string_view word);
  bool expectSymbol(std::string_view symbol);
  bool expectLineEnd();
  std::optional<uint64_t> expectNumber(std::string_view what, uint64_t max = UINT64_MAX);
  std::optional<uint32_t> expectNumber32(std::string_view what, uint32_t max = UINT32_MAX);
  std::optional<std::string> expectString(std::string_view what);
  void skipLine();

  // Errors.
  bool fail(TextPlace place, std::string message, std::string hint = {});
  bool stop(TextPlace place, std::string message); ///< an error that ends the reading
  bool failExpected(std::string_view what);

  // TextParser.cpp: the file.
  void parseTopLevel();
  bool parseTopStatement();
  bool parseScheduleLine();
  bool parseScheduleWords();
  bool parseNumRanks();
  bool parseSizeClass();
  bool parseFile();
  bool parseRank();
  void parseRankBody();
  bool parseRankStatement();
  void finishRank();
  void finishFile();
  struct OperandText;
  void bindOperands();
  bool bindOperand(const OperandText &text, EntryValue &operand);
  void openPlainFile();
  bool isBeforeRanks(TextPlace place, std::string_view what);
  uint64_t n() const { return parsed_.schedule.sizeClass.elements; }
  bool hasStopped() const { return errors_.isFull(); }

  // TextParserOps.cpp: the statements of a rank.
  bool parseLabelled();
  bool parseOp();
  bool parseOpText(Op &op);
  bool parsePeer(Op &op, std::string_view word);
  bool parseReductionText(Op &op);
  bool parseTransferWord(Op &op, const TextToken &word);
  bool parseTransfer(Op &op);
  bool parseAttributes(Op &op);
  bool parseAttribute(Op &op, const TextToken &word);
  bool parseSliceList(std::string_view word, uint32_t &begin, uint32_t &count);
  bool parseLoc(SourceLoc &loc);
  bool checkStatedBytes(Op &op, TextPlace place, std::optional<uint64_t> stated);
  /// Takes a -1, if there is one; false if it must not stand here.
  bool takeWildcard(std::string_view what, bool &isWildcard);
  bool parseDep();
  bool mayState(std::string_view word);
  bool parseEnsures();
  bool parseClobbers();
  bool parseOperands(Ensure &ensure);
  bool parseOperand(ElementType target);

  // TextParserBuffers.cpp: buffers and slices.
  bool startsBuffer();
  bool parseBuffer();
  bool parseBufferShape(Buffer &buffer);
  bool parseExtent(Buffer &buffer);
  bool declare(TextPlace place, const std::string &name, uint32_t ordinal, Buffer &buffer);
  std::optional<std::string> expectName();
  bool parseReference(std::string &name, uint32_t &ordinal);
  std::optional<SliceText> parseSliceText();
  std::optional<RangeText> parseRange();
  std::optional<PositionText> parsePosition();
  bool parseTerms(PositionText &position, bool &isSum);
  bool parseTerm(PositionText &position, bool isNegative);
  std::optional<RangeText> joinRange(TextPlace place, PositionText begin, PositionText end);
  std::optional<BufferId> findBuffer(const BufferIds &ids, const std::string &name,
                                     uint32_t ordinal) const;
  std::optional<Slice> bindSlice(const SliceText &text);
  std::optional<Slice> parseSlice();
  void bindAliases();

  struct Alias {
    BufferId buffer;
    SliceText of;
  };
  /// An operand of a promise, whose buffer may stand in a rank further down.
  struct OperandText {
    Rank rank;        ///< that promises
    uint32_t operand; ///< of its contract; all but the buffer, and the range if it is the whole
    TextPlace place;
    const std::string *name;
    uint32_t ordinal;
    bool isWhole;       ///< no range is given
    ElementType target; ///< the type that it is compared with
  };

  TextLimits limits_;
  std::string fileName_;
  TextScanner scanner_;
  std::array<TextToken, 4> ahead_;
  unsigned aheadCount_ = 0;
  ErrorList errors_;
  ParsedText parsed_;
  bool hasScheduleLine_ = false;
  bool hasSizeLine_ = false;
  bool hasNumRanksLine_ = false;
  std::optional<uint32_t> numRanks_;
  uint64_t opCount_ = 0;
  bool isPlainFileKnown_ = false;
  uint16_t plainFile_ = 0; ///< where ops without a place of their own stand
  std::map<std::string, uint32_t, std::less<>> names_;
  std::vector<OperandText> operands_;
  std::set<std::string, std::less<>> operandNames_;
  std::vector<BufferIds> buffersOf_; ///< per rank that has been read

  // The rank that is being read.
  RankText rank_;
  BufferIds buffers_;
  std::map<std::string, uint32_t> declared_; ///< how many buffers of a name
  std::vector<bool> isBroken_;               ///< buffers with an error, about which no more is said
  std::vector<Alias> aliases_;
};

} // namespace colldsl
