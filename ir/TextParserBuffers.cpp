// Buffers and slices.

#include "ir/TextParser.h"

#include "ir/Bounds.h"
#include "ir/Index32.h"

#include <algorithm>
#include <numeric>

namespace colldsl {

bool TextParser::startsBuffer() {
  return parseBufferRole(peekWord()) &&
         (peek(1).kind == TextTokenKind::Word || peek(1).kind == TextTokenKind::String);
}

std::optional<std::string> TextParser::expectName() {
  if (peek().kind == TextTokenKind::String)
    return expectString("the buffer's name");
  if (peek().kind == TextTokenKind::Word)
    return std::string(take().text);
  failExpected("a buffer");
  return std::nullopt;
}

bool TextParser::parseReference(std::string &name, uint32_t &ordinal) {
  std::optional<std::string> word = expectName();
  if (!word)
    return false;
  name = *word;
  ordinal = 1;
  if (!takeSymbol("#"))
    return true;
  std::optional<uint32_t> number = expectNumber32("which buffer of the name");
  ordinal = number.value_or(1);
  return number.has_value();
}

bool TextParser::parseBuffer() {
  Buffer buffer;
  buffer.role = *parseBufferRole(take().text);
  TextPlace place = peek().place;
  std::string name;
  uint32_t ordinal = 1;
  if (!parseReference(name, ordinal))
    return false;
  // Declared even if the rest is wrong, so that its uses are not errors too.
  bool isFine = declare(place, name, ordinal, buffer);
  BufferId id = rank_.dag.addBuffer(buffer);
  isBroken_.push_back(true);
  if (!isFine || !expectSymbol(":") || !parseBufferShape(buffer))
    return false;
  if (takeWord("aliases")) {
    std::optional<SliceText> of = parseSliceText();
    if (!of)
      return false;
    aliases_.push_back({id, *of});
  }
  buffer.significant = !takeWord("insignificant");
  if (Status status = checkBuffer(buffer, n()); !status)
    return fail(place, concat("the buffer ", status.message()));
  rank_.dag.buffers.back() = buffer;
  isBroken_.back() = false;
  return true;
}

// Buffers of one name are name, name#2, name#3, in the order of the text.
bool TextParser::declare(TextPlace place, const std::string &name, uint32_t ordinal,
                         Buffer &buffer) {
  auto [at, isNew] = names_.try_emplace(name, index32(names_.size()));
  if (isNew)
    parsed_.schedule.names.push_back(name);
  buffer.name = at->second;
  uint32_t expected = ++declared_[name];
  buffers_.try_emplace({buffer.name, expected}, BufferId{index32(rank_.dag.buffers.size())});
  if (ordinal == expected)
    return true;
  return fail(place,
              concat("number ", ordinal, " of the buffers named '", name, "' stands here, number ",
                     expected, " must come next"),
              expected == 1 ? "" : concat("write ", name, "#", expected));
}

bool TextParser::parseBufferShape(Buffer &buffer) {
  std::optional<ElementType> type = parseElementType(peekWord());
  if (!type)
    return failExpected("an element type");
  take();
  buffer.type = *type;
  bool hasBlocks =
      peek(1).kind == TextTokenKind::Number && peek(2).isSymbol("]") && peek(3).isSymbol("[");
  if (!hasBlocks)
    return parseExtent(buffer);
  take();
  std::optional<uint32_t> blocks = expectNumber32("the number of blocks");
  if (!blocks)
    return false;
  buffer.blocks = *blocks;
  take();
  take();
  buffer.layout = peek().isSymbol("*") ? Layout::CallTime : Layout::Capacity;
  if (!takeSymbol("*") && !takeSymbol("<="))
    return failExpected("'*' or '<='");
  return expectSymbol("]") && (!peek().isSymbol("[") || parseExtent(buffer));
}

// [end], or [begin..end].
bool TextParser::parseExtent(Buffer &buffer) {
  if (!expectSymbol("["))
    return false;
  TextPlace place = peek().place;
  PositionText begin;
  std::optional<PositionText> end = parsePosition();
  if (end && takeSymbol("..")) {
    begin = *end;
    end = parsePosition();
  }
  if (!end || !expectSymbol("]"))
    return false;
  std::optional<RangeText> range = joinRange(place, begin, *end);
  if (!range)
    return false;
  buffer.originScale = range->beginScale;
  buffer.originOffset = range->beginOffset;
  buffer.endScale = range->endScale;
  buffer.endOffset = range->endOffset;
  buffer.denominator = range->denominator;
  return true;
}

// One of 5, n, 7n, with its sign; adds it to the position.
bool TextParser::parseTerm(PositionText &position, bool isNegative) {
  TextPlace place = peek().place;
  uint64_t magnitude = 1;
  bool hasNumber = peek().kind == TextTokenKind::Number;
  if (hasNumber) {
    std::optional<uint64_t> number = expectNumber("a position");
    if (!number)
      return false;
    magnitude = *number;
  }
  bool hasN = takeWord("n");
  if (!hasNumber && !hasN)
    return failExpected("a position");
  uint64_t most = static_cast<uint64_t>(INT64_MAX) + (isNegative ? 1 : 0);
  if (magnitude > most)
    return fail(place, concat("a position has ", magnitude, ", at most ", most, " is possible"));
  auto value = static_cast<int64_t>(isNegative ? 0 - magnitude : magnitude);
  int64_t &sum = hasN ? position.scale : position.offset;
  if (__builtin_add_overflow(sum, value, &sum))
    return fail(place, "a position is beyond 64 bits");
  return true;
}

bool TextParser::parseTerms(PositionText &position, bool &isSum) {
  bool isNegative = takeSymbol("-");
  for (isSum = false;; isSum = true) {
    if (!parseTerm(position, isNegative))
      return false;
    isNegative = peek().isSymbol("-");
    if (!takeSymbol("+") && !takeSymbol("-"))
      return true;
  }
}

// n, 2n+3, 2n/3, (2n+3)/5.
std::optional<PositionText> TextParser::parsePosition() {
  PositionText position;
  bool isSum = false;
  bool hasParens = takeSymbol("(");
  if (!parseTerms(position, isSum) || (hasParens && !expectSymbol(")")))
    return std::nullopt;
  TextPlace place = peek().place;
  if (!takeSymbol("/"))
    return position;
  if (isSum && !hasParens) {
    fail(place, "it is not clear what is divided", "put the sum in parentheses");
    return std::nullopt;
  }
  std::optional<uint32_t> denominator = expectNumber32("the divisor");
  if (!denominator)
    return std::nullopt;
  if (*denominator == 0) {
    fail(place, "a position is divided by zero");
    return std::nullopt;
  }
  position.denominator = *denominator;
  return position;
}

// Brings both over the least common multiple of their denominators.
std::optional<RangeText> TextParser::joinRange(TextPlace place, PositionText begin,
                                               PositionText end) {
  uint64_t common = std::lcm(uint64_t{begin.denominator}, uint64_t{end.denominator});
  RangeText range;
  auto multiply = [](int64_t value, uint64_t by, int64_t &out) {
    return !__builtin_mul_overflow(value, static_cast<int64_t>(by), &out);
  };
  uint64_t byBegin = common / begin.denominator;
  uint64_t byEnd = common / end.denominator;
  if (common <= UINT32_MAX && multiply(begin.scale, byBegin, range.beginScale) &&
      multiply(begin.offset, byBegin, range.beginOffset) &&
      multiply(end.scale, byEnd, range.endScale) && multiply(end.offset, byEnd, range.endOffset)) {
    range.denominator = static_cast<uint32_t>(common);
    return range;
  }
  fail(place, "the range has no common denominator that fits");
  return std::nullopt;
}

std::optional<RangeText> TextParser::parseRange() {
  TextPlace place = peek().place;
  std::optional<PositionText> begin = parsePosition();
  if (!begin || !expectSymbol(".."))
    return std::nullopt;
  std::optional<PositionText> end = parsePosition();
  if (!end || !expectSymbol("]"))
    return std::nullopt;
  return joinRange(place, *begin, *end);
}

// y, y[a..b], y[3], y[3][a..b].
std::optional<SliceText> TextParser::parseSliceText() {
  SliceText text;
  text.place = peek().place;
  if (!parseReference(text.name, text.ordinal))
    return std::nullopt;
  if (peek().isSymbol("[") && peek(1).kind == TextTokenKind::Number && peek(2).isSymbol("]")) {
    take();
    text.block = expectNumber32("the block", kNoBlock - 1);
    take();
    if (!text.block)
      return std::nullopt;
  }
  if (!takeSymbol("["))
    return text;
  text.range = parseRange();
  return text.range ? std::optional(text) : std::nullopt;
}

RangeText extentOf(const Buffer &b) {
  return {b.originScale, b.originOffset, b.endScale, b.endOffset, b.denominator};
}

void setRange(Slice &slice, const RangeText &range) {
  slice.beginScale = range.beginScale;
  slice.beginOffset = range.beginOffset;
  slice.endScale = range.endScale;
  slice.endOffset = range.endOffset;
  slice.denominator = range.denominator;
}

Slice sliceOf(const SliceText &text, const RangeText &whole) {
  constexpr RangeText kWholeBlock{0, 0, 1, 0, 1};
  Slice slice;
  slice.block = text.block.value_or(kNoBlock);
  setRange(slice, text.range.value_or(text.block ? kWholeBlock : whole));
  return slice;
}

std::string bufferWords(std::string_view name, uint32_t ordinal) {
  return concat("'", name, "'", ordinal == 1 ? "" : concat(", number ", ordinal));
}

std::optional<BufferId> TextParser::findBuffer(const BufferIds &ids, const std::string &name,
                                               uint32_t ordinal) const {
  auto named = names_.find(name);
  if (named == names_.end())
    return std::nullopt;
  auto at = ids.find({named->second, ordinal});
  return at == ids.end() ? std::nullopt : std::optional(at->second);
}

std::optional<Slice> TextParser::bindSlice(const SliceText &text) {
  std::optional<BufferId> id = findBuffer(buffers_, text.name, text.ordinal);
  if (!id) {
    fail(text.place, concat("this rank has no buffer ", bufferWords(text.name, text.ordinal)));
    return std::nullopt;
  }
  const Buffer &b = rank_.dag.buffers[index(*id)];
  Slice slice = sliceOf(text, extentOf(b));
  slice.buffer = *id;
  Status status = isBroken_[index(*id)] ? Status() : checkSlice(slice, b, n());
  if (status)
    return slice;
  fail(text.place, concat("the slice of '", text.name, "' ", status.message()));
  return std::nullopt;
}

std::optional<Slice> TextParser::parseSlice() {
  std::optional<SliceText> text = parseSliceText();
  return text ? bindSlice(*text) : std::nullopt;
}

// A buffer may be an alias of one that stands further down, so this waits for all.
void TextParser::bindAliases() {
  for (const Alias &alias : aliases_) {
    std::optional<Slice> slice = bindSlice(alias.of);
    if (!slice)
      continue;
    Buffer &buffer = rank_.dag.buffers[index(alias.buffer)];
    buffer.aliasOf = slice->buffer;
    buffer.aliasSlice = index32(rank_.dag.slices.size());
    rank_.dag.slices.push_back(*slice);
  }
  BufferId cycle = findAliasCycle(rank_.dag.buffers);
  if (cycle == kNoBuffer)
    return;
  auto at = std::find_if(aliases_.begin(), aliases_.end(),
                         [&](const Alias &alias) { return alias.buffer == cycle; });
  fail(at->of.place, "the buffer is an alias of itself");
}

} // namespace colldsl
