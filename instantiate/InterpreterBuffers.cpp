// Sizes of buffers, and the buffers themselves: parameters of the job's collective,
// temporaries.
#include "instantiate/Interpreter.h"
#include "ir/Index32.h"
#include "program/CountedSize.h"

namespace colldsl {

namespace {

SizeExtent constantSize(int64_t value) { return {{0, 0, 1, 0}, {0, value, 1, value}, true, false}; }

bool isLinear(const SizeExtent &s) {
  return s.begin.denominator == 1 && s.end.denominator == 1 && !s.callTime;
}

/// factorA * a + factorB * b, for sizes whose denominators are 1.
SizeExtent combine(const SizeExtent &a, int64_t factorA, const SizeExtent &b, int64_t factorB) {
  SizeExtent r{{0, 0, 1, 0}, {0, 0, 1, 0}, true, false};
  r.end.scale = factorA * (a.end.scale - a.begin.scale) + factorB * (b.end.scale - b.begin.scale);
  r.end.offset =
      factorA * (a.end.offset - a.begin.offset) + factorB * (b.end.offset - b.begin.offset);
  r.end.at = factorA * a.value() + factorB * b.value();
  return r;
}

std::string lengthWords(const SliceValue &s) {
  if (s.isWholeBuffer2d() || s.inBlock())
    return s.inBlock() ? "a block whose length is known at call time only"
                       : "blocks whose lengths are known at call time only";
  return std::to_string(s.length()) + (s.length() == 1 ? " element" : " elements");
}

bool small(const SizeExtent &s) {
  constexpr int64_t limit = int64_t{1} << 40;
  auto isSmall = [](int64_t x) { return -limit < x && x < limit; };
  return isSmall(s.end.scale) && isSmall(s.end.offset) && isSmall(s.value());
}

} // namespace

SizeExtent Interpreter::sizeOfInt(int64_t value) { return constantSize(value); }

SizeExtent Interpreter::loadSize(uint32_t slot, SourceLoc loc) {
  return sizeSlot(slot).bound ? sizeSlot(slot) : constantSize(intOf(sizeSlot(slot), loc));
}

/// The size as a number, for this n only.
int64_t Interpreter::intOf(const SizeExtent &size, SourceLoc loc) {
  if (!size.bound)
    fail(loc, "the size symbol is used before a buffer gives it a value");
  else if (size.callTime)
    fail(loc, "this length is known at call time only");
  if (size.begin.scale != 0 || size.end.scale != 0)
    range_.pin();
  return size.value();
}

// Arithmetic of sizes. Results are linear in n if they can be.

SizeExtent Interpreter::addSizes(const SizeExtent &a, int sign, const SizeExtent &b,
                                 const Expr &e) {
  if (isLinear(a) && isLinear(b) && small(a) && small(b))
    return combine(a, 1, b, sign);
  IntOperation *compute = sign > 0 ? addInts : subtractInts;
  int64_t sum = 0;
  if (!compute(intOf(a, program_.expr(e.a).loc), intOf(b, program_.expr(e.b).loc), sum))
    failOverflow(e.loc, sign > 0 ? "sum" : "difference");
  return constantSize(sum);
}

SizeExtent Interpreter::multiplySizes(const SizeExtent &a, const SizeExtent &b, const Expr &e) {
  bool constantA = a.begin.scale == 0 && a.end.scale == 0;
  bool constantB = b.begin.scale == 0 && b.end.scale == 0;
  if (isLinear(a) && isLinear(b) && small(a) && small(b) && (constantA || constantB)) {
    constexpr int64_t limit = int64_t{1} << 20;
    int64_t factor = constantA ? a.value() : b.value();
    if (-limit < factor && factor < limit)
      return combine(constantA ? b : a, factor, constantSize(0), 0);
  }
  int64_t product = 0;
  if (!multiplyInts(intOf(a, program_.expr(e.a).loc), intOf(b, program_.expr(e.b).loc), product))
    failOverflow(e.loc, "product");
  return constantSize(product);
}

SizeExtent Interpreter::dimExtent(const Dim &dim, SourceLoc loc) {
  SizeExtent size = evalSize(dim.expr);
  if (!failed_ && size.value() < 0)
    fail(loc, "a buffer of " + std::to_string(size.value()) + " elements");
  if (!failed_ && size.callTime)
    fail(loc, "a buffer whose size is known at call time only", "use capacity blocks: T[k][<= m]");
  if (!failed_)
    range_.keepLessEqual(size.begin, size.end);
  return size;
}

/// The size with a begin of 0 and an end without a denominator. If it has no such form, a number
/// for this n only.
SizeExtent Interpreter::wholeElements(SizeExtent size) {
  if (isLinear(size))
    return combine(size, 1, constantSize(0), 0);
  range_.pin();
  return constantSize(size.value());
}

/// The size of so many blocks; an error if it is beyond the size of any buffer.
SizeExtent Interpreter::times(const SizeExtent &size, uint32_t blocks, SourceLoc loc) {
  auto fits = [&](int64_t x) {
    constexpr Int128 limit = Int128{1} << 60;
    Int128 product = static_cast<Int128>(x) * blocks;
    return -limit < product && product < limit;
  };
  if (fits(size.end.scale) && fits(size.end.offset) && fits(size.end.at))
    return combine(size, blocks, constantSize(0), 0);
  failTooLarge(loc);
  return constantSize(0);
}

void Interpreter::failTooLarge(SourceLoc loc) { fail(loc, "a buffer of more than 2^56 bytes"); }

int64_t Interpreter::numBlocks(const Dim &dim, SourceLoc loc) {
  int64_t blocks = eval(dim.expr);
  if (!failed_ && (blocks < 0 || blocks >= kNoBlock))
    fail(loc, "a buffer of " + std::to_string(blocks) + " blocks");
  return failed_ ? 0 : blocks;
}

int64_t Interpreter::prefixSums(int64_t countsHandle, SourceLoc loc) {
  std::vector<int64_t> sums{0};
  step(loc, list(countsHandle).size());
  for (int64_t count : list(countsHandle)) {
    int64_t next = 0;
    if (failed_)
      break;
    if (count < 0 || __builtin_add_overflow(sums.back(), count, &next) || next > INT64_MAX / 16) {
      fail(loc, "a block of " + std::to_string(count) + " elements");
      break;
    }
    sums.push_back(next);
  }
  int64_t handle = newList();
  list(handle).assign(sums.begin(), sums.end());
  return handle;
}

SliceValue Interpreter::makeDense(const BufferType &type, Buffer &buffer, SourceLoc loc) {
  SliceValue s;
  const Dim &last = type.dim[type.dims - 1];
  if (last.kind == DimKind::Counts) {
    s.blocks = static_cast<uint32_t>(numBlocks(type.dim[0], loc));
    int64_t counts = eval(last.expr);
    if (failed_)
      return s;
    if (list(counts).size() != s.blocks)
      fail(loc, std::to_string(list(counts).size()) + " block lengths for " +
                    std::to_string(s.blocks) + " blocks");
    s.shape = BlockShape::Counts;
    s.prefix = prefixSums(counts, loc);
    s.begin = range_.constant(0);
    s.end = range_.constant(list(s.prefix).back());
  } else {
    SizeExtent size = dimExtent(last, loc);
    uint32_t blocks = 0;
    if (type.dims == 2 && !failed_) {
      blocks = static_cast<uint32_t>(numBlocks(type.dim[0], loc));
      size = times(wholeElements(size), blocks, loc);
    }
    s.begin = size.begin;
    s.end = size.end;
    if (type.dims == 2)
      s.setEqualBlocks(blocks);
  }
  Slice extent = toSlice(s, loc);
  buffer.originScale = extent.beginScale;
  buffer.originOffset = extent.beginOffset;
  buffer.endScale = extent.endScale;
  buffer.endOffset = extent.endOffset;
  buffer.denominator = extent.denominator;
  return s;
}

/// T[k][*] and T[k][<= m]; T[*] and T[<= m] are one such block.
SliceValue Interpreter::makeBlocked(const BufferType &type, Buffer &buffer, SourceLoc loc) {
  SliceValue s;
  const Dim &last = type.dim[type.dims - 1];
  bool capacity = last.kind == DimKind::Capacity;
  buffer.blocks = type.dims == 2 ? static_cast<uint32_t>(numBlocks(type.dim[0], loc)) : 1;
  buffer.layout = capacity ? Layout::Capacity : Layout::CallTime;
  if (capacity) {
    SizeExtent size = wholeElements(dimExtent(last, loc));
    SizeExtent all = times(size, buffer.blocks, loc);
    buffer.endScale = all.end.scale;
    buffer.endOffset = all.end.offset;
  }
  s.shape = capacity ? BlockShape::Capacity : BlockShape::CallTime;
  s.blocks = buffer.blocks;
  return s;
}

SliceValue Interpreter::makeBuffer(const BufferType &type, Buffer buffer, SourceLoc loc) {
  DimKind kind = type.dim[type.dims - 1].kind;
  bool blocked = kind == DimKind::CallTime || kind == DimKind::Capacity;
  buffer.type = type.generic ? frame_->type : type.type;
  SliceValue s = blocked ? makeBlocked(type, buffer, loc) : makeDense(type, buffer, loc);
  constexpr int64_t maxBytes = int64_t{1} << 56;
  int64_t end = positionAt(buffer.endScale, buffer.endOffset, buffer.denominator, range_.n());
  if (!failed_ && (end < 0 || end > maxBytes / elementBytes(buffer.type)))
    failTooLarge(loc);
  if (failed_)
    return s;
  s.type = buffer.type;
  s.buffer = builder_.addBuffer(buffer);
  return blocked && type.dims == 1 ? blockOf(s, 0, loc) : s;
}

/// Binds the size symbols that no earlier parameter bound: those that the request names, and n.
void Interpreter::bindEntryBuffer(const Param &param) {
  for (uint32_t d = 0; d < param.buffer.dims; ++d) {
    const Dim &dim = param.buffer.dim[d];
    if (dim.slot == kNoSlot || sizeSlot(dim.slot).bound)
      continue;
    const std::string &name = text(frame_->decl->sizeNames[dim.slot]);
    SizeExtent &size = sizeSlot(dim.slot);
    for (const auto &[given, value] : request_.sizes)
      if (given == name)
        size = constantSize(static_cast<int64_t>(value));
    if (!size.bound && dim.slot == countedSlot(*frame_->decl))
      size = {{0, 0, 1, 0}, range_.at(1, 0, 1), true, false};
    if (!size.bound)
      return fail(param.loc, "the size '" + name + "' has no value",
                  "give it with --set " + name + "=NUMBER");
  }
  Buffer buffer;
  buffer.role = param.role;
  buffer.name = param.name;
  if (param.significantAt != kNoExpr)
    buffer.significant = eval(param.significantAt) == currentGroup().me;
  SliceValue s = makeBuffer(param.buffer, buffer, param.loc);
  if (failed_)
    return;
  sliceSlot(param.slot) = s;
  entryBuffers_.push_back(s);
}

/// Binds the aliases of in-place forms. A buffer whose alias is significant on another rank only
/// keeps memory of its own: in place at the root only.
void Interpreter::bindAliases(const Decl &decl) {
  for (const AliasClause &alias : decl.aliases) {
    const Param &param = decl.params[alias.param];
    SliceValue where = evalSlice(alias.slice);
    if (failed_)
      return;
    SliceValue &x = sliceSlot(param.slot);
    Buffer &buffer = dag_->buffers[index(x.buffer)];
    if (!dag_->buffers[index(where.buffer)].significant)
      continue;
    if (x.length() != where.length() || where.isWholeBuffer2d() != x.isWholeBuffer2d() ||
        where.inBlock() != x.inBlock())
      return fail(alias.loc, "'" + program_.nameOf(param) + "' is " + lengthWords(x) +
                                 ", the slice it aliases " + lengthWords(where));
    buffer.aliasOf = where.buffer;
    buffer.aliasSlice = index32(dag_->slices.size());
    dag_->slices.push_back(toSlice(where, alias.loc));
    where.shape = x.shape;
    where.blocks = x.blocks;
    where.prefix = x.prefix;
    x = where;
  }
}

} // namespace colldsl
