// Buffer arguments of calls: a slice of the caller takes the shape that the callee's
// parameter declares, and gives its size symbols their values.
#include "instantiate/Interpreter.h"

namespace colldsl {
void Interpreter::failArgument(SourceLoc loc, const Param &param, const std::string &what) {
  fail(loc, "argument '" + program_.nameOf(param) + "': " + what);
}

void Interpreter::bindLength(const Dim &dim, const SizeExtent &size, const Param &param,
                             SourceLoc loc) {
  if (dim.kind == DimKind::Symbol && !sizeSlot(dim.slot).bound) {
    sizeSlot(dim.slot) = size;
    return;
  }
  SizeExtent wanted = evalSize(dim.expr);
  if (failed_)
    return;
  if (wanted.callTime || size.callTime) {
    bool same = wanted.callTime && size.callTime && wanted.begin.sameForm(size.begin) &&
                wanted.end.sameForm(size.end);
    if (!same)
      failArgument(loc, param, "its length is known at call time only");
    return;
  }
  if (wanted.value() != size.value())
    return failArgument(loc, param,
                        std::to_string(size.value()) + " elements given, " +
                            std::to_string(wanted.value()) + " expected");
  bool sameForms = wanted.begin.sameForm(size.begin) && wanted.end.sameForm(size.end);
  bool sameDifference = wanted.begin.denominator == 1 && wanted.end.denominator == 1 &&
                        size.begin.denominator == 1 && size.end.denominator == 1 &&
                        wanted.end.scale - wanted.begin.scale == size.end.scale - size.begin.scale;
  if (!sameForms && !sameDifference)
    range_.pin();
}

void Interpreter::bindOneDimension(const Param &param, SliceValue &s, SourceLoc loc) {
  const Dim &dim = param.buffer.dim[0];
  bool wantsBlock = dim.kind == DimKind::CallTime || dim.kind == DimKind::Capacity;
  if (s.isWholeBuffer2d())
    return failArgument(loc, param,
                        "one block is expected, " + std::to_string(s.blocks) + " given");
  s.shape = BlockShape::None;
  s.blocks = 0;
  if (wantsBlock)
    return bindCapacity(dim, s);
  bindLength(dim, {s.begin, s.end, true, s.inBlock()}, param, loc);
}

void Interpreter::bindEqualBlocks(const Param &param, SliceValue &s, SourceLoc loc) {
  if (s.begin.denominator != 1 || s.end.denominator != 1)
    makeConstant(s);
  int64_t blocks = s.blocks;
  if (blocks == 0) {
    if (s.length() != 0)
      failArgument(loc, param,
                   "0 blocks expected, " + std::to_string(s.length()) + " elements given");
    return;
  }
  if (s.length() % blocks != 0)
    return failArgument(loc, param,
                        std::to_string(s.length()) + " elements are not " + std::to_string(blocks) +
                            " equal blocks");
  if ((s.end.scale - s.begin.scale) % blocks != 0 || (s.end.offset - s.begin.offset) % blocks != 0)
    makeConstant(s);
  Position end = s.begin;
  end.scale += (s.end.scale - s.begin.scale) / blocks;
  end.offset += (s.end.offset - s.begin.offset) / blocks;
  end.at = s.begin.at + s.length() / blocks;
  bindLength(param.buffer.dim[1], {s.begin, end, true, false}, param, loc);
}

void Interpreter::bindCounts(const Param &param, SliceValue &s, SourceLoc loc) {
  int64_t counts = eval(param.buffer.dim[1].expr);
  if (failed_)
    return;
  s.prefix = prefixSums(counts, loc);
  int64_t total = list(s.prefix).back();
  if (list(counts).size() != s.blocks || total != s.length())
    return failArgument(loc, param,
                        std::to_string(list(counts).size()) + " block lengths (" +
                            std::to_string(total) + " elements) for " + std::to_string(s.blocks) +
                            " blocks (" + std::to_string(s.length()) + " elements)");
  makeConstant(s);
  s.shape = BlockShape::Counts;
}

/// The symbol of T[k][<= m] stands for the capacity that the buffer was made with.
void Interpreter::bindCapacity(const Dim &dim, const SliceValue &s) {
  if (dim.slot == kNoSlot || sizeSlot(dim.slot).bound || s.buffer == kNoBuffer)
    return;
  const Buffer &buffer = dag_->buffers[index(s.buffer)];
  int64_t blocks = std::max<int64_t>(1, buffer.blocks);
  sizeSlot(dim.slot) = {
      {0, 0, 1, 0}, range_.at(buffer.endScale / blocks, buffer.endOffset / blocks, 1), true, false};
}

void Interpreter::bindBlocks(const Param &param, SliceValue &s, SourceLoc loc) {
  const Dim &dim = param.buffer.dim[0];
  if (dim.kind == DimKind::Symbol && !sizeSlot(dim.slot).bound)
    sizeSlot(dim.slot) = {{0, 0, 1, 0}, {0, s.blocks, 1, s.blocks}, true, false};
  int64_t blocks = numBlocks(dim, loc);
  if (failed_)
    return;
  if (s.shape != BlockShape::None && s.blocks != blocks)
    return failArgument(loc, param,
                        std::to_string(s.blocks) + " blocks given, " + std::to_string(blocks) +
                            " expected");
  s.blocks = static_cast<uint32_t>(blocks);
  DimKind kind = param.buffer.dim[1].kind;
  bool wantsCallTime = kind == DimKind::CallTime || kind == DimKind::Capacity;
  if (wantsCallTime && (s.shape == BlockShape::Equal || s.shape == BlockShape::Counts))
    return; // a text that is right for any lengths is right for these; <= m gives m no value
  if (wantsCallTime != s.isWholeBuffer2d() || s.inBlock())
    return failArgument(loc, param,
                        wantsCallTime ? "blocks of call-time length are expected"
                                      : "blocks of known length are expected");
  if (wantsCallTime)
    return bindCapacity(param.buffer.dim[1], s);
  if (kind == DimKind::Counts)
    return bindCounts(param, s, loc);
  if (s.shape == BlockShape::Counts)
    return failArgument(loc, param,
                        "equal blocks are expected, blocks with "
                        "lengths of their own given");
  bindEqualBlocks(param, s, loc);
  if (!failed_)
    s.setEqualBlocks(s.blocks);
}

void Interpreter::bindArgument(const Param &param, SliceValue s, SourceLoc loc) {
  if (param.buffer.generic)
    frame_->type = s.type;
  else if (param.buffer.type != s.type)
    return failArgument(loc, param,
                        std::string(spelling(s.type)) + " elements given, " +
                            std::string(spelling(param.buffer.type)) + " expected");
  if (param.buffer.dims == 1)
    bindOneDimension(param, s, loc);
  else
    bindBlocks(param, s, loc);
  if (param.significantAt != kNoExpr && eval(param.significantAt) != currentGroup().me)
    s.buffer = kNoBuffer; // an access to it is an error
  sliceSlot(param.slot) = s;
}

} // namespace colldsl
