#include "ir/ImageCheck.h"

#include "ir/Bounds.h"
#include "ir/Operators.h"

#include <algorithm>
#include <cstddef>

namespace colldsl {
namespace {

bool isZero(const std::byte *at, size_t begin, size_t end) {
  return std::all_of(at + begin, at + end, [](std::byte b) { return b == std::byte{0}; });
}

template <typename T> const std::byte *rawBytes(const T &record) {
  return reinterpret_cast<const std::byte *>(&record);
}

bool mayRead(OpKind kind) {
  return kind == OpKind::Send || kind == OpKind::Copy || kind == OpKind::Combine;
}
bool mayWrite(OpKind kind) {
  return kind == OpKind::Recv || kind == OpKind::Copy || kind == OpKind::Combine;
}

} // namespace

Status RankChecker::checkLoc(uint64_t line, uint64_t column, uint64_t file) const {
  if (line == 0 ? column != 0 || file != 0 : file >= fileCount_)
    return fail("its place is in file ", file, ", the image names ", fileCount_);
  return {};
}

Status RankChecker::checkAlias(const Buffer &buffer) const {
  if (buffer.aliasOf == kNoBuffer)
    return {};
  if (index(buffer.aliasOf) >= rank_.buffers.size())
    return fail("aliases buffer ", index(buffer.aliasOf), " of ", rank_.buffers.size());
  if (buffer.aliasSlice >= rank_.slices.size())
    return fail("aliases slice ", buffer.aliasSlice, " of ", rank_.slices.size());
  if (rank_.slices[buffer.aliasSlice].buffer != buffer.aliasOf)
    return fail("aliases buffer ", index(buffer.aliasOf), " by a slice of buffer ",
                index(rank_.slices[buffer.aliasSlice].buffer));
  return {};
}

Status RankChecker::checkBuffer(const Buffer &b) const {
  // A bool that holds 2 must not be read as one.
  if (rawBytes(b)[offsetof(Buffer, significant)] > std::byte{1} || b.role > BufferRole::Temp ||
      static_cast<uint32_t>(b.type) >= kElementTypes || b.layout > Layout::Capacity)
    return fail("has an unknown role, type, layout or significance");
  if (b.name >= nameCount_)
    return fail("has name ", b.name, ", the image has ", nameCount_);
  if (Status s = colldsl::checkBuffer(b, n()); !s)
    return s;
  return checkAlias(b);
}

Status RankChecker::checkBuffers(Rank r) {
  rank_ = image_.rank(r);
  for (size_t i = 0; i < rank_.buffers.size(); ++i)
    if (Status s = checkBuffer(rank_.buffers[i]); !s)
      return failAt("buffer", i, s);
  BufferId cycle = findAliasCycle(rank_.buffers);
  return cycle == kNoBuffer ? Status()
                            : failAt("buffer", index(cycle), fail("is an alias of itself"));
}

Status RankChecker::checkSlices() const {
  for (size_t i = 0; i < rank_.slices.size(); ++i) {
    const Slice &slice = rank_.slices[i];
    if (index(slice.buffer) >= rank_.buffers.size())
      return failAt("slice", i,
                    fail("is of buffer ", index(slice.buffer), " of ", rank_.buffers.size()));
    if (Status s = checkSlice(slice, rank_.buffers[index(slice.buffer)], n()); !s)
      return failAt("slice", i, s);
  }
  return {};
}

Status RankChecker::checkMeaning(const ImageOp &op) const {
  if (static_cast<uint32_t>(op.kind) >= kOpKinds)
    return fail("has unknown kind ", static_cast<uint32_t>(op.kind));
  bool reduces = op.kind == OpKind::Combine;
  bool isKnownDetail = reduces              ? op.side() <= Side::Before
                       : isMessage(op.kind) ? Transfer::unpack(op.detail).has_value()
                                            : op.detail == 0;
  if (!isKnownDetail || static_cast<uint32_t>(op.reduction) >= (reduces ? kReductions : 1) ||
      (reduces ? static_cast<uint32_t>(op.type) >= kElementTypes : op.type != ElementType::I32))
    return fail("is a ", spelling(op.kind), " with an unknown reduction, type or side");
  if (Status s = reduces ? checkDefined(op.reduction, op.type) : Status(); !s)
    return s;
  if (const char *wrong = op.transfer().wrongOn(op.kind))
    return fail(wrong);
  if (!isMessage(op.kind) && (op.peer != kNoRank || op.message != MessageId{0}))
    return fail("is a ", spelling(op.kind), " with a peer or a message");
  if (isMessage(op.kind) && index(op.peer) >= image_.numRanks())
    return fail("its peer ", index(op.peer), " is not one of the ", image_.numRanks(), " ranks");
  return {};
}

Status RankChecker::checkOpSlices(const ImageOp &op) const {
  auto isInside = [&](uint32_t begin, uint32_t count) {
    return count == 0 ? begin == 0 : uint64_t{begin} + count <= rank_.slices.size();
  };
  if (!isInside(op.sourceBegin, op.sourceCount) || !isInside(op.targetBegin, op.targetCount))
    return fail("its slices lie outside of the rank's ", rank_.slices.size());
  if ((op.sourceCount != 0 && !mayRead(op.kind)) || (op.targetCount != 0 && !mayWrite(op.kind)))
    return fail("is a ", spelling(op.kind), " with slices that it cannot have");
  bool hasSlices = op.sourceCount != 0 || op.targetCount != 0;
  if (op.amount != 0 && (hasSlices || op.kind == OpKind::Signal || op.kind == OpKind::Wait))
    return fail("is a ", spelling(op.kind), " with ", op.amount, " bytes of its own");
  return {};
}

// Lists are ascending and name younger ops only, so no cycle can be.
Status RankChecker::checkList(uint32_t i, std::span<const uint32_t> list) {
  uint32_t previous = i;
  for (uint32_t to : list) {
    if (to >= rank_.ops.size())
      return fail("releases op ", to, " of ", rank_.ops.size());
    if (to <= i || to < previous)
      return fail("releases op ", to, " after op ", previous, ", the order must ascend");
    previous = to;
    ++releasedBy_[to];
  }
  return {};
}

Status RankChecker::checkSuccessors(uint32_t i) {
  const ImageOp &op = rank_.ops[i];
  uint64_t count = uint64_t{op.requireCount} + op.irequireCount;
  if (op.successorBegin != successorEnd_ || count > rank_.successors.size() - successorEnd_)
    return fail("its ", count, " successors begin at ", op.successorBegin, ", not at ",
                successorEnd_, ", or end behind ", rank_.successors.size());
  successorEnd_ += count;
  auto list = rank_.successors.subspan(op.successorBegin, count);
  if (Status s = checkList(i, list.first(op.requireCount)); !s)
    return s;
  return checkList(i, list.last(op.irequireCount));
}

Status RankChecker::checkOp(uint32_t i) {
  const ImageOp &op = rank_.ops[i];
  if (Status s = checkMeaning(op); !s)
    return s;
  if (Status s = checkOpSlices(op); !s)
    return s;
  if (Status s = checkLoc(op.line, op.column, op.file); !s)
    return s;
  // All that may release this op stand before it, so the count is complete.
  if (op.depCount != releasedBy_[i])
    return fail("waits for ", op.depCount, " ops, ", releasedBy_[i], " release it");
  return checkSuccessors(i);
}

Status RankChecker::checkOps() {
  successorEnd_ = 0;
  releasedBy_.assign(rank_.ops.size(), 0);
  for (uint32_t i = 0; i < rank_.ops.size(); ++i)
    if (Status s = checkOp(i); !s)
      return failAt("op", i, s);
  if (successorEnd_ != rank_.successors.size())
    return fail("image: rank ", index(rank_.rank), ": has ", rank_.successors.size(),
                " successors, its ops use ", successorEnd_);
  return {};
}

Status RankChecker::checkEnsure(const Ensure &e) const {
  const std::byte *raw = rawBytes(e);
  if (!isZero(raw, offsetof(Ensure, reduction) + sizeof(Reduction),
              offsetof(Ensure, operandBegin)) ||
      !isZero(raw, offsetof(Ensure, loc) + sizeof(SourceLoc), sizeof(Ensure)))
    return fail("has padding that is not zero");
  if (raw[offsetof(Ensure, isReduction)] > std::byte{1} ||
      static_cast<uint32_t>(e.reduction) >= (e.isReduction ? kReductions : 1))
    return fail("has an unknown reduction");
  if (e.isReduction ? e.operandCount == 0 : e.operandCount > 1)
    return fail("has ", e.operandCount, " operands");
  if (uint64_t{e.operandBegin} + e.operandCount > rank_.operands.size())
    return fail("its operands lie outside of the rank's ", rank_.operands.size());
  if (index(e.target.buffer) >= rank_.buffers.size())
    return fail("is about buffer ", index(e.target.buffer), " of ", rank_.buffers.size());
  if (Status s = checkSlice(e.target, rank_.buffers[index(e.target.buffer)], n()); !s)
    return s;
  if (Status s = checkTypes(e); !s)
    return s;
  return checkLoc(e.loc.line, e.loc.column, e.loc.file);
}

Status RankChecker::checkTypes(const Ensure &e) const {
  ElementType target = rank_.buffers[index(e.target.buffer)].type;
  for (uint32_t i = 0; i < e.operandCount; ++i)
    if (Status s = checkComparable(target, operandTypes_[e.operandBegin + i]); !s)
      return s;
  return e.isReduction ? checkDefined(e.reduction, target) : Status();
}

// An operand is read on its own rank, whose buffers may be others than here.
Status RankChecker::checkOperand(const EntryValue &operand) {
  if (!isZero(rawBytes(operand), offsetof(EntryValue, rank) + sizeof(Rank),
              offsetof(EntryValue, slice)))
    return fail("has padding that is not zero");
  if (index(operand.rank) >= image_.numRanks())
    return fail("is of rank ", index(operand.rank), " of ", image_.numRanks());
  auto there = image_.rank(operand.rank).buffers;
  uint32_t buffer = index(operand.slice.buffer);
  if (buffer >= there.size())
    return fail("is of buffer ", buffer, ", rank ", index(operand.rank), " has ", there.size());
  operandTypes_.push_back(there[buffer].type);
  return checkSlice(operand.slice, there[buffer], n());
}

Status RankChecker::checkContract() {
  if (!rank_.ensures.empty() && !image_.hasContract())
    return fail("image: rank ", index(rank_.rank), ": has ", rank_.ensures.size(),
                " promises, and the image no contract");
  operandTypes_.clear();
  for (size_t i = 0; i < rank_.operands.size(); ++i)
    if (Status s = checkOperand(rank_.operands[i]); !s)
      return failAt("operand", i, s);
  for (size_t i = 0; i < rank_.ensures.size(); ++i)
    if (Status s = checkEnsure(rank_.ensures[i]); !s)
      return failAt("promise", i, s);
  return {};
}

Status RankChecker::checkRest(Rank r) {
  rank_ = image_.rank(r);
  if (Status s = checkSlices(); !s)
    return s;
  if (Status s = checkOps(); !s)
    return s;
  return checkContract();
}

} // namespace colldsl
