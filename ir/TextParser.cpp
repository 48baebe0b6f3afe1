// The file as a whole: header lines, then one block per rank.

#include "ir/TextParser.h"

#include "ir/Bounds.h"
#include "ir/Operators.h"
#include "ir/Ranges.h"

namespace colldsl {
TextParser::TextParser(std::string_view text, std::string_view fileName, const TextLimits &limits)
    : limits_(limits), fileName_(fileName), scanner_(text, limits.maxLineBytes),
      errors_(limits.maxErrors) {}

bool TextParser::isBeforeRanks(TextPlace place, std::string_view what) {
  return parsed_.schedule.ranks.empty() ||
         fail(place, concat("'", what, "' must stand before the first rank"));
}

bool TextParser::parseScheduleLine() {
  TextPlace place = peek().place;
  std::optional<std::string> name = expectString("the schedule's name");
  if (!name)
    return false;
  if (hasScheduleLine_)
    return fail(place, concat("the schedule's name is given twice, as \"", parsed_.schedule.name,
                              "\" and \"", *name, "\""));
  parsed_.schedule.name = *name;
  hasScheduleLine_ = true;
  return parseScheduleWords();
}

// Promises need the word 'contract': without a contract the verifier would not prove them.
bool TextParser::parseScheduleWords() {
  Schedule &s = parsed_.schedule;
  std::optional<TextToken> ofContract;
  for (;;) {
    TextToken word = peek();
    bool *is = takeWord("contract")        ? &s.hasContract
               : takeWord("synchronizes")  ? &s.synchronizes
               : takeWord("deterministic") ? &s.deterministic
                                           : nullptr;
    if (!is)
      break;
    if (*is)
      return fail(word.place, concat("'", word.text, "' is given twice"));
    *is = true;
    if (is != &s.hasContract)
      ofContract = word;
  }
  if (!ofContract || s.hasContract)
    return true;
  return fail(ofContract->place,
              concat("'", ofContract->text, "' belongs to a contract, and there is none"),
              "write 'contract' as well");
}

bool TextParser::parseNumRanks() {
  TextPlace place = peek().place;
  hasNumRanksLine_ = true;
  std::optional<uint64_t> number = expectNumber("the number of ranks");
  if (!number)
    return false;
  if (numRanks_)
    return fail(place, concat("num_ranks is given twice, as ", *numRanks_, " and ", *number));
  if (*number > limits_.maxRanks)
    return stop(place, concat("num_ranks is ", *number, ", the limit is ", limits_.maxRanks));
  numRanks_ = static_cast<uint32_t>(*number);
  return true;
}

bool TextParser::parseSizeClass() {
  SizeClass c;
  TextPlace place = peek().place;
  if (hasSizeLine_)
    return fail(place, "the size is given twice");
  hasSizeLine_ = true;
  if (!expectWord("n") || !expectSymbol("="))
    return false;
  std::optional<uint64_t> elements = expectNumber("n");
  if (!elements || !expectWord("in"))
    return false;
  std::optional<uint64_t> min = expectNumber("the smallest n");
  if (!min || !expectSymbol(".."))
    return false;
  c = {*elements, *min, UINT64_MAX};
  if (peek().kind == TextTokenKind::Number) {
    std::optional<uint64_t> max = expectNumber("the largest n");
    if (!max)
      return false;
    c.max = *max;
  }
  if (!c.contains(c.elements))
    return fail(place, concat("n = ", c.elements, " is not in ", rangeWord(c.min, c.max)));
  parsed_.schedule.sizeClass = c;
  return true;
}

bool TextParser::parseFile() {
  TextPlace place = peek().place;
  std::optional<std::string> name = expectString("the file's name");
  if (!name)
    return false;
  if (parsed_.schedule.files.size() == UINT16_MAX)
    return fail(place, concat("there are more files than the limit of ", UINT16_MAX));
  parsed_.schedule.files.push_back(*name);
  return true;
}

bool TextParser::parseTopStatement() {
  TextToken word = peek();
  if (takeWord("rank"))
    return parseRank();
  if (takeWord("num_ranks"))
    return isBeforeRanks(word.place, word.text) && parseNumRanks();
  if (takeWord("schedule"))
    return isBeforeRanks(word.place, word.text) && parseScheduleLine();
  if (takeWord("size"))
    return isBeforeRanks(word.place, word.text) && parseSizeClass();
  if (takeWord("file"))
    return isBeforeRanks(word.place, word.text) && parseFile();
  return failExpected("num_ranks, rank, schedule, size or file");
}

void TextParser::parseTopLevel() {
  while (!hasStopped() && peek().kind != TextTokenKind::End) {
    if (peek().kind == TextTokenKind::NewLine) {
      take();
      continue;
    }
    if (peek().isSymbol("}"))
      fail(take().place, "this '}' closes no rank");
    else if (!parseTopStatement() || !expectLineEnd())
      skipLine();
  }
}

// Without a schedule line, ops stand where the text has them.
void TextParser::openPlainFile() {
  if (hasScheduleLine_ || isPlainFileKnown_)
    return;
  isPlainFileKnown_ = true;
  std::vector<std::string> &files = parsed_.schedule.files;
  plainFile_ = static_cast<uint16_t>(files.size());
  files.push_back(fileName_);
}

bool TextParser::parseRank() {
  TextPlace place = peek().place;
  std::optional<uint64_t> number = expectNumber("the rank's number");
  if (!number)
    return false;
  auto expected = parsed_.schedule.numRanks();
  if (*number != expected)
    fail(place, concat("rank ", *number, " stands here, rank ", expected, " must come next"));
  else if (numRanks_ && *number >= *numRanks_)
    fail(place, concat("rank ", *number, " stands here, num_ranks is ", *numRanks_));
  if (expected >= limits_.maxRanks)
    return stop(place, concat("there are more ranks than the limit of ", limits_.maxRanks));
  if (!expectSymbol("{"))
    return false;
  openPlainFile();
  parseRankBody();
  return true;
}

void TextParser::parseRankBody() {
  while (!hasStopped()) {
    TextToken token = peek();
    if (token.isSymbol("}")) {
      take();
      return finishRank();
    }
    if (token.kind == TextTokenKind::End) {
      fail(token.place, concat("rank ", parsed_.schedule.numRanks(), " is not closed by '}'"));
      return finishRank();
    }
    if (token.kind == TextTokenKind::NewLine)
      take();
    else if (!parseRankStatement() || !expectLineEnd())
      skipLine();
  }
}

// Labels and names may be any word, so what follows a word decides.
bool TextParser::parseRankStatement() {
  bool isDep = peek(1).isWord("requires") || peek(1).isWord("irequires");
  if (isDep && peek(2).kind == TextTokenKind::Word)
    return parseDep();
  if (peek(1).isSymbol(":"))
    return parseLabelled();
  if (startsBuffer())
    return parseBuffer();
  if (takeWord("ensures"))
    return mayState("ensures") && parseEnsures();
  if (takeWord("clobbers"))
    return mayState("clobbers") && parseClobbers();
  if (parsed_.schedule.ranks.empty() && takeWord("num_ranks"))
    return parseNumRanks();
  return parseOp();
}

void TextParser::finishRank() {
  bindAliases();
  for (size_t i = 0; numRanks_ && i < rank_.dag.size(); ++i) {
    const Op &op = rank_.dag.ops[i];
    if (isMessage(op.kind) && index(op.peer) >= *numRanks_ &&
        !(limits_.allowWildcards && op.peer == kNoRank))
      fail(rank_.opPlaces[i],
           concat(spelling(op.kind), " with rank ", index(op.peer), ", num_ranks is ", *numRanks_));
  }
  parsed_.schedule.ranks.push_back(linkRank(rank_, errors_));
  rank_ = RankText();
  buffersOf_.push_back(std::move(buffers_));
  buffers_.clear();
  declared_.clear();
  isBroken_.clear();
  aliases_.clear();
}

// A promise may name a rank whose buffers stand further down.
void TextParser::bindOperands() {
  for (const OperandText &text : operands_)
    bindOperand(text, parsed_.schedule.ranks[index(text.rank)].contract.operands[text.operand]);
}

bool TextParser::bindOperand(const OperandText &text, EntryValue &operand) {
  const Schedule &s = parsed_.schedule;
  uint32_t rank = index(operand.rank);
  if (rank >= s.numRanks())
    return fail(text.place, concat("rank ", rank, " is not one of the ", s.numRanks(), " ranks"));
  std::optional<BufferId> id = findBuffer(buffersOf_[rank], *text.name, text.ordinal);
  if (!id)
    return fail(text.place,
                concat("rank ", rank, " has no buffer ", bufferWords(*text.name, text.ordinal)));
  const Buffer &buffer = s.ranks[rank].buffers[index(*id)];
  operand.slice.buffer = *id;
  if (text.isWhole && operand.slice.block == kNoBlock)
    setRange(operand.slice, extentOf(buffer));
  if (Status status = checkSlice(operand.slice, buffer, n()); !status)
    return fail(text.place, concat("on rank ", rank, " the slice ", status.message()));
  if (Status status = checkComparable(text.target, buffer.type); !status)
    return fail(text.place, status.message());
  return true;
}

bool TextParser::mayState(std::string_view word) {
  return parsed_.schedule.hasContract ||
         fail(peek().place, concat("'", word, "' belongs to a contract, and there is none"),
              "write 'contract' into the line 'schedule \"name\"'");
}

void TextParser::finishFile() {
  if (hasStopped())
    return;
  TextPlace end = peek().place;
  uint32_t ranks = parsed_.schedule.numRanks();
  if (!hasNumRanksLine_)
    fail(end, "num_ranks is missing");
  if (numRanks_ && *numRanks_ > ranks)
    fail(end, concat("num_ranks is ", *numRanks_, ", the text has ", ranks, " ranks"));
  if (errors_.size() == 0)
    bindOperands();
}

ParsedText TextParser::run() {
  parseTopLevel();
  finishFile();
  if (!hasScheduleLine_)
    parsed_.schedule.name = fileName_;
  parsed_.schedule.isPlainGoal = !hasScheduleLine_;
  parsed_.errors = errors_.take();
  return std::move(parsed_);
}

ParsedText parseText(std::string_view text, std::string_view fileName, TextLimits limits) {
  if (text.size() <= limits.maxBytes)
    return TextParser(text, fileName, limits).run();
  ParsedText refused;
  refused.errors.push_back(
      Diagnostic::error({1, 1, 0}, concat("the text has ", text.size(), " bytes, the limit is ",
                                          limits.maxBytes, " (--max-source-bytes)")));
  return refused;
}

} // namespace colldsl
