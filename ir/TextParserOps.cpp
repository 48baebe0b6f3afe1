// Ops, dependencies and promises.

#include "ir/TextParser.h"

#include "ir/Index32.h"
#include "ir/Operators.h"
#include "ir/TextSizes.h"

namespace colldsl {

bool TextParser::parseLabelled() {
  TextToken label = take();
  take();
  if (label.kind != TextTokenKind::Word)
    return fail(label.place, concat("a label must be a word, not '", label.text, "'"));
  if (label.text.size() > limits_.maxLabelBytes)
    return fail(label.place, concat("the label has ", label.text.size(), " bytes, the limit is ",
                                    limits_.maxLabelBytes));
  uint32_t op = rank_.dag.size();
  bool isFine = parseOp();
  rank_.labels.push_back({label.text, isFine ? op : RankText::kBrokenOp, label.place});
  return isFine;
}

bool TextParser::parseOp() {
  TextPlace place = peek().place;
  std::optional<OpKind> kind = parseOpKind(peekWord());
  if (!kind)
    return failExpected("an op, a buffer, a dependency or a promise");
  take();
  if (++opCount_ > limits_.maxOps)
    return stop(place, concat("there are more ops than the limit of ", limits_.maxOps,
                              " (--max-total-ops)"));
  if (rank_.opPlaces.size() == RankText::kBrokenOp)
    return stop(place, concat("a rank has more than ", RankText::kBrokenOp, " ops"));
  Op op;
  op.kind = *kind;
  rank_.hasCount.push_back(false);
  bool isFine = parseOpText(op);
  if (isFine) {
    if (!op.loc.known() && !hasScheduleLine_)
      op.loc = locOf(place, plainFile_);
    rank_.dag.ops.push_back(op);
    rank_.opPlaces.push_back(place);
  } else {
    rank_.hasCount.pop_back();
  }
  return isFine;
}

bool TextParser::parseOpText(Op &op) {
  std::optional<uint64_t> stated;
  TextPlace place = peek().place;
  if (op.kind == OpKind::Calc || peek().kind == TextTokenKind::Number) {
    stated = expectNumber(op.kind == OpKind::Calc ? "the time in ns" : "the size");
    if (!stated || (op.kind != OpKind::Calc && !expectWord("b")))
      return false;
  }
  if (sendsMessage(op.kind) && !parsePeer(op, "to"))
    return false;
  if (receivesMessage(op.kind) && !parsePeer(op, "from"))
    return false;
  if (op.kind == OpKind::Combine && !parseReductionText(op))
    return false;
  if (!parseAttributes(op))
    return false;
  bool reads = op.kind == OpKind::Send || op.kind == OpKind::Copy || op.kind == OpKind::Combine;
  bool writes = op.kind == OpKind::Recv || op.kind == OpKind::Copy || op.kind == OpKind::Combine;
  if (reads && !parseSliceList("from", op.sourceBegin, op.sourceCount))
    return false;
  if (writes && !parseSliceList("into", op.targetBegin, op.targetCount))
    return false;
  return parseLoc(op.loc) && checkStatedBytes(op, place, stated);
}

bool TextParser::takeWildcard(std::string_view what, bool &isWildcard) {
  isWildcard = peek().isSymbol("-");
  if (!isWildcard)
    return true;
  if (limits_.allowWildcards && !hasScheduleLine_) {
    take();
    std::optional<uint32_t> one = expectNumber32(what);
    return one && (*one == 1 || fail(peek().place, concat("-1 stands for any ", what)));
  }
  return fail(peek().place, concat("'-1' stands for any ", what, ": matching is static, it needs ",
                                   what == "sender" ? "the sender's rank" : "the tag itself"));
}

bool TextParser::parsePeer(Op &op, std::string_view word) {
  bool isAny = false;
  if (!expectWord(word) || (word == "from" && !takeWildcard("sender", isAny)))
    return false;
  if (isAny)
    return true;
  std::optional<uint32_t> peer = expectNumber32("the peer's rank", index(kNoRank) - 1);
  if (peer)
    op.peer = Rank{*peer};
  return peer.has_value();
}

bool TextParser::parseReductionText(Op &op) {
  if (!expectWord("by"))
    return false;
  TextPlace place = peek().place;
  std::optional<Reduction> reduction = parseReduction(peekWord());
  if (!reduction)
    return failExpected("a reduction");
  take();
  std::optional<ElementType> type = parseElementType(peekWord());
  if (!type)
    return failExpected("an element type");
  take();
  if (Status status = checkDefined(*reduction, *type); !status)
    return fail(place, status.message());
  op.reduction = *reduction;
  op.type = *type;
  op.side = peek().isWord("before") ? Side::Before : Side::After;
  return takeWord("before") || takeWord("after") || failExpected("'before' or 'after'");
}

bool TextParser::parseAttribute(Op &op, const TextToken &word) {
  if (word.text == "cpu" || word.text == "nic") {
    std::optional<uint32_t> number = expectNumber32(word.text, UINT8_MAX);
    (word.text == "cpu" ? op.cpu : op.nic) = static_cast<uint8_t>(number.value_or(0));
    return number.has_value();
  }
  bool isAny = false;
  if (word.text == "tag" && !takeWildcard("tag", isAny))
    return false;
  if (isAny) {
    op.message = makeMessageId(UINT32_MAX, countOf(op.message));
    return true;
  }
  // If there are wildcards, the largest tag stands for any.
  bool isTaken = word.text == "tag" && limits_.allowWildcards && !hasScheduleLine_;
  std::optional<uint32_t> number = expectNumber32(word.text, UINT32_MAX - (isTaken ? 1 : 0));
  if (!number)
    return false;
  if (word.text == "tag") {
    op.message = makeMessageId(*number, countOf(op.message));
  } else {
    op.message = makeMessageId(tagOf(op.message), *number);
    rank_.hasCount.back() = true;
  }
  return true;
}

bool TextParser::parseTransferWord(Op &op, const TextToken &word) {
  if (word.text == "via") {
    std::optional<Protocol> protocol = parseProtocol(peekWord());
    if (!protocol)
      return failExpected("a protocol");
    op.transfer.protocol = *protocol;
    take();
  } else if (word.text == "mover") {
    std::optional<Mover> mover = parseMover(peekWord());
    if (!mover)
      return failExpected("'reader', 'writer' or 'either'");
    op.transfer.mover = *mover;
    take();
  } else {
    (word.text == "canary"      ? op.transfer.canary
     : word.text == "announced" ? op.transfer.announced
     : word.text == "streamed"  ? op.transfer.streamed
                                : op.transfer.multicast) = true;
  }
  return true;
}

// Each at most once, in this order.
bool TextParser::parseTransfer(Op &op) {
  TextPlace place = peek().place;
  for (std::string_view word : {"via", "mover", "canary", "announced", "streamed", "multicast"})
    if (peek().isWord(word) && !parseTransferWord(op, take()))
      return false;
  const char *wrong = op.transfer.wrongOn(op.kind);
  return !wrong || fail(place, wrong);
}

// Each at most once, in this order.
bool TextParser::parseAttributes(Op &op) {
  for (std::string_view word : {"tag", "nth", "cpu", "nic"}) {
    bool fits = isMessage(op.kind) || word == "cpu" || word == "nic";
    if (fits && peek().isWord(word) && !parseAttribute(op, take()))
      return false;
  }
  return !isMessage(op.kind) || parseTransfer(op);
}

// An empty list has no word either. Its slices are the last of the rank so far.
bool TextParser::parseSliceList(std::string_view word, uint32_t &begin, uint32_t &count) {
  if (!takeWord(word))
    return true;
  begin = index32(rank_.dag.slices.size());
  do {
    while (count != 0 && peek().kind == TextTokenKind::NewLine)
      take();
    std::optional<Slice> slice = parseSlice();
    if (!slice)
      return false;
    rank_.dag.slices.push_back(*slice);
    ++count;
  } while (takeSymbol(","));
  return true;
}

bool TextParser::parseLoc(SourceLoc &loc) {
  TextPlace place = peek().place;
  if (!takeSymbol("@"))
    return true;
  std::optional<uint32_t> numbers[3] = {expectNumber32("the line")};
  if (!numbers[0] || !expectSymbol(":"))
    return false;
  numbers[1] = expectNumber32("the column");
  if (!numbers[1])
    return false;
  bool hasFile = takeSymbol(":");
  if (hasFile && !(numbers[2] = expectNumber32("the column")))
    return false;
  uint32_t file = hasFile ? *numbers[0] : 0;
  uint32_t line = *numbers[hasFile ? 1 : 0];
  uint32_t column = *numbers[hasFile ? 2 : 1];
  if (file >= parsed_.schedule.files.size())
    return fail(place, concat("file ", file, " is not one of the ", parsed_.schedule.files.size(),
                              " files"));
  if (line == 0 || column > UINT16_MAX)
    return fail(place, concat("line ", line, ", column ", column, " is not a place"));
  loc = {line, static_cast<uint16_t>(column), static_cast<uint16_t>(file)};
  return true;
}

// With slices the size is for the reader: it must agree, and may be left out.
bool TextParser::checkStatedBytes(Op &op, TextPlace place, std::optional<uint64_t> stated) {
  if (op.kind == OpKind::Signal || op.kind == OpKind::Wait)
    return !stated || fail(place, concat("a ", spelling(op.kind), " has no size"));
  if (op.sourceCount == 0 && op.targetCount == 0) {
    op.amount = stated.value_or(0);
    return stated || fail(place, concat("a ", spelling(op.kind), " needs a size or slices"));
  }
  std::optional<uint64_t> bytes = statedBytes(rank_.dag, op, n());
  if (!stated || stated == bytes)
    return true;
  if (!bytes)
    return fail(place, concat("the size says ", *stated,
                              "b, that of the blocks is known at call time only"));
  return fail(place,
              concat("the size says ", *stated, "b, the slices have ", *bytes, "b at n = ", n()));
}

bool TextParser::parseDep() {
  TextToken op = take();
  DepKind kind = take().text == "requires" ? DepKind::Requires : DepKind::IRequires;
  TextToken on = take();
  if (op.kind != TextTokenKind::Word)
    return fail(op.place, concat("a label must be a word, not '", op.text, "'"));
  if (rank_.deps.size() == UINT32_MAX)
    return stop(op.place, concat("a rank has more than ", UINT32_MAX, " dependencies"));
  rank_.deps.push_back({op.text, on.text, kind, op.place, on.place});
  return true;
}

// The buffer is one of the rank that is named: bindOperands() finds it.
bool TextParser::parseOperand(ElementType target) {
  std::optional<SliceText> text = parseSliceText();
  if (!text || !expectSymbol("@"))
    return false;
  std::optional<uint32_t> rank = expectNumber32("the operand's rank");
  if (!rank)
    return false;
  Contract &contract = rank_.dag.contract;
  const std::string *name = &*operandNames_.insert(std::move(text->name)).first;
  operands_.push_back({Rank{parsed_.schedule.numRanks()}, index32(contract.operands.size()),
                       text->place, name, text->ordinal, !text->range, target});
  contract.operands.push_back({Rank{*rank}, sliceOf(*text, {})});
  return true;
}

bool TextParser::parseOperands(Ensure &ensure) {
  ElementType target = rank_.dag.bufferOf(ensure.target).type;
  TextPlace place = peek().place;
  std::optional<Reduction> reduction = parseReduction(peekWord());
  if (!reduction || !peek(1).isSymbol("("))
    return parseOperand(target);
  if (Status status = checkDefined(*reduction, target); !status)
    return fail(place, status.message());
  take();
  take();
  ensure.isReduction = true;
  ensure.reduction = *reduction;
  do {
    while (peek().kind == TextTokenKind::NewLine)
      take();
    if (!parseOperand(target))
      return false;
  } while (takeSymbol(","));
  return expectSymbol(")");
}

bool TextParser::parseEnsures() {
  Ensure ensure;
  std::optional<Slice> target = parseSlice();
  if (!target || !expectSymbol("=="))
    return false;
  ensure.target = *target;
  Contract &contract = rank_.dag.contract;
  ensure.operandBegin = index32(contract.operands.size());
  if (!parseOperands(ensure) || !parseLoc(ensure.loc))
    return false;
  ensure.operandCount = index32(contract.operands.size()) - ensure.operandBegin;
  contract.ensures.push_back(ensure);
  return true;
}

bool TextParser::parseClobbers() {
  Ensure clobber;
  std::optional<Slice> target = parseSlice();
  if (!target || !parseLoc(clobber.loc))
    return false;
  clobber.target = *target;
  clobber.operandBegin = index32(rank_.dag.contract.operands.size());
  rank_.dag.contract.ensures.push_back(clobber);
  return true;
}

} // namespace colldsl
