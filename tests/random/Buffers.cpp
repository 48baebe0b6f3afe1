#include "tests/random/Buffers.h"

#include <algorithm>

namespace colldsl::generated {
namespace {

SliceValue shaped(SliceValue value, const std::vector<int64_t> &dims) {
  value.blocks = dims.size() > 1 ? dims[0] : -1;
  value.blockLength = dims.back();
  return value;
}

int64_t lengthOf(const std::vector<int64_t> &dims) {
  return dims.size() > 1 ? dims[0] * dims[1] : dims[0];
}

int64_t lengthOf(const std::vector<SliceValue> &slices) {
  int64_t length = 0;
  for (const SliceValue &slice : slices)
    length += slice.length;
  return length;
}

bool travels(const std::vector<SliceValue> &slices) {
  return std::any_of(slices.begin(), slices.end(),
                     [](const SliceValue &s) { return s.extent == Extent::Capacity; });
}

} // namespace

Slice asSlice(const SliceValue &value) {
  Slice slice;
  if (value.isOfBlocks())
    slice.block = static_cast<uint32_t>(value.block);
  if (value.extent == Extent::Capacity) { // as long as the block is then
    slice.endScale = 1;
    slice.buffer = BufferId{value.buffer};
    return slice;
  }
  slice.beginOffset = value.begin;
  slice.endOffset = value.begin + value.length;
  slice.buffer = BufferId{value.buffer};
  return slice;
}

uint32_t RankBuffers::addBuffer(BufferRole role, int64_t length) {
  Buffer buffer;
  buffer.endOffset = length;
  buffer.role = role;
  dag_->addBuffer(buffer);
  return static_cast<uint32_t>(dag_->buffers.size() - 1);
}

/// A buffer of blocks whose lengths are known at call time; of capacity those are their rooms.
uint32_t RankBuffers::addBlocks(BufferRole role, Extent extent,
                                const std::vector<int64_t> &lengths) {
  uint32_t id = addBuffer(role, 0);
  Buffer &buffer = dag_->buffers[id];
  buffer.layout = extent == Extent::Capacity ? Layout::Capacity : Layout::CallTime;
  buffer.blocks = static_cast<uint32_t>(lengths.size());
  if (extent == Extent::Capacity && !lengths.empty())
    buffer.endOffset = lengths.front() * static_cast<int64_t>(lengths.size());
  values_.blockLengths[id] = lengths;
  return id;
}

std::vector<int64_t> RankBuffers::dimsOf(const std::vector<Expr> &exprs, Extent extent,
                                         Symbol symbol) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < exprs.size(); ++i) {
    bool isLast = i + 1 == exprs.size();
    dims.push_back(!isLast || extent == Extent::Number
                       ? values_.defined(exprs[i])
                       : values_.sizes[static_cast<size_t>(symbol)]);
  }
  for (int64_t dim : dims)
    if (dim < 0)
      throw Invalid{"a buffer of negative length"};
  return dims;
}

SliceValue RankBuffers::sliceOfBlocks(uint32_t buffer, Extent extent, bool isGrid) const {
  const std::vector<int64_t> &lengths = values_.blockLengths.at(buffer);
  if (isGrid)
    return {buffer, 0, 0, static_cast<int64_t>(lengths.size()), 0, extent, -1};
  return {buffer, 0, lengths.front(), -1, 0, extent, 0};
}

void RankBuffers::addParameter(const Param &param) {
  auto id = static_cast<uint32_t>(dag_->buffers.size());
  addBufferOf(param);
  if (!param.root.empty())
    dag_->buffers[id].significant = values_.number(param.root[0]) == values_.context.me;
}

void RankBuffers::addBufferOf(const Param &param) {
  std::vector<int64_t> dims = dimsOf(param.dims, param.extent, param.symbol);
  if (hasBlocks(param))
    return addParameterOfBlocks(param, dims);
  uint32_t buffer = addBuffer(param.role, lengthOf(dims));
  values_.slices[param.name] = shaped({buffer, 0, lengthOf(dims)}, dims);
}

void RankBuffers::addParameterOfBlocks(const Param &param, const std::vector<int64_t> &dims) {
  auto id = static_cast<uint32_t>(dag_->buffers.size());
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < (dims.size() > 1 ? dims[0] : 1); ++i)
    lengths.push_back(program_.lengths.of(rank_, id, static_cast<uint32_t>(i)));
  if (param.extent == Extent::Capacity)
    for (int64_t &length : lengths) {
      if (checksLengths_ && length > dims.back())
        throw Invalid{"a block is longer than its room"};
      length = dims.back();
    }
  addBlocks(param.role, param.extent, lengths);
  values_.slices[param.name] = sliceOfBlocks(id, param.extent, dims.size() > 1);
}

void RankBuffers::setAlias(const Alias &alias) {
  SliceValue at = values_.slice(alias.slice), own = values_.slices[alias.param];
  Buffer &buffer = dag_->buffers[own.buffer];
  if (!dag_->buffers[at.buffer].significant) // in place at the root alone
    return;
  bool isAlike = at.isOfBlocks() ? at.extent == own.extent : !own.isOfBlocks();
  if (!isAlike || (checksLengths_ && at.length != own.length))
    throw Invalid{"an alias of another length"};
  buffer.aliasOf = BufferId{at.buffer};
  buffer.aliasSlice = static_cast<uint32_t>(dag_->slices.size());
  dag_->slices.push_back(asSlice(at));
  aliases_[own.buffer] = at;
  if (at.extent == Extent::Capacity) // the length is that of one block, not of two
    lent_[alias.param] = at;
}

/// Where each buffer's elements lie among all of the rank.
void RankBuffers::layOut() {
  firsts_.resize(dag_->buffers.size());
  for (uint32_t b = 0; b < dag_->buffers.size(); ++b)
    if (!aliases_.contains(b))
      addCells(b);
  for (const auto &[b, at] : aliases_)
    firsts_[b] = {firsts_[at.buffer][at.isOfBlocks() ? static_cast<size_t>(at.block) : 0] +
                  at.begin};
}

void RankBuffers::addCells(uint32_t b) {
  const Buffer &buffer = dag_->buffers[b];
  firsts_.resize(dag_->buffers.size());
  if (buffer.layout == Layout::Dense)
    firsts_[b] = {cells.add(buffer.endOffset)};
  else
    for (int64_t length : values_.blockLengths[b])
      firsts_[b].push_back(cells.add(length + (buffer.layout == Layout::Capacity ? 1 : 0)));
}

void RankBuffers::addTemporary(const Stmt &s) {
  std::vector<int64_t> dims = dimsOf(s.exprs, s.extent, s.symbol);
  if (s.extent == Extent::Capacity) {
    values_.slices[s.name] = sliceOfBlocks(
        addTemporaryBlocks(dims.size() > 1 ? dims[0] : 1, dims.back()), s.extent, dims.size() > 1);
    return;
  }
  uint32_t buffer = addBuffer(BufferRole::Temp, lengthOf(dims));
  addCells(buffer);
  values_.slices[s.name] = shaped({buffer, 0, lengthOf(dims)}, dims);
}

uint32_t RankBuffers::addTemporaryBlocks(int64_t count, int64_t room) {
  uint32_t buffer = addBlocks(BufferRole::Temp, Extent::Capacity,
                              std::vector<int64_t>(static_cast<size_t>(count), room));
  addCells(buffer);
  return buffer;
}

std::vector<SliceValue> RankBuffers::slicesOf(const std::vector<SliceExpr> &exprs) {
  std::vector<SliceValue> all;
  for (const SliceExpr &e : exprs) {
    all.push_back(oneSlice(e));
    if (!dag_->buffers[all.back().buffer].significant)
      throw Invalid{"a buffer that is not significant there"};
  }
  return all;
}

/// Of a parameter.
void RankBuffers::requireSignificant(const SliceValue &slice, int64_t rank) {
  uint32_t id = 0;
  for (const Param &param : program_.main().params)
    if (param.kind == Param::Kind::Buffer && id++ == slice.buffer && !param.root.empty() &&
        values_.number(param.root[0]) != rank)
      throw Invalid{"a buffer that is not significant there"};
}

SliceValue RankBuffers::oneSlice(const SliceExpr &e) {
  SliceValue slice = values_.slice(e);
  if (slice.isOfBlocks() && slice.block < 0)
    throw Invalid{"blocks whose lengths are known at call time only, as one slice"};
  return slice;
}

std::vector<int64_t> RankBuffers::cellsOf(const std::vector<SliceValue> &slices) const {
  std::vector<int64_t> all;
  for (const SliceValue &s : slices) {
    int64_t first = firsts_[s.buffer][s.isOfBlocks() ? static_cast<size_t>(s.block) : 0];
    for (int64_t i = 0; i < s.length + (s.extent == Extent::Capacity ? 1 : 0); ++i)
      all.push_back(first + s.begin + i);
  }
  return all;
}

std::vector<SliceValue> RankBuffers::hiddenFor(const std::vector<SliceValue> &to) {
  std::vector<SliceValue> all;
  for (const SliceValue &s : to) {
    if (s.extent == Extent::CallTime)
      throw Invalid{"what is received is combined into a block of this rank's length"};
    if (s.extent == Extent::Capacity) {
      all.push_back(sliceOfBlocks(addTemporaryBlocks(1, s.length), Extent::Capacity, false));
      continue;
    }
    uint32_t hidden = addBuffer(BufferRole::Temp, s.length);
    addCells(hidden);
    all.push_back({hidden, 0, s.length});
  }
  return all;
}

SliceValue RankBuffers::operandOf(const Ensure &e, int64_t owner) {
  auto lengths = values_.blockLengths;
  auto slices = values_.slices;
  for (const Param &param : program_.main().params) {
    if (!hasBlocks(param) || param.extent == Extent::Capacity)
      continue;
    SliceValue &slice = values_.slices[param.name];
    std::vector<int64_t> &all = values_.blockLengths[slice.buffer];
    for (size_t i = 0; i < all.size(); ++i)
      all[i] =
          program_.lengths.of(static_cast<uint32_t>(owner), slice.buffer, static_cast<uint32_t>(i));
    if (slice.block >= 0)
      slice.length = all.front();
  }
  SliceValue operand = oneSlice(e.operand);
  requireSignificant(operand, owner);
  values_.blockLengths = std::move(lengths);
  values_.slices = std::move(slices);
  return operand;
}

void RankBuffers::enterBody() {
  for (const auto &[param, block] : lent_)
    values_.slices[param] = block;
}

SliceValue RankBuffers::targetOf(const Ensure &e) {
  SliceValue target = oneSlice(e.target);
  requireSignificant(target, values_.context.me);
  return target;
}

bool RankBuffers::areEqual(const std::vector<SliceValue> &a,
                           const std::vector<SliceValue> &b) const {
  return !checksLengths_ || travels(a) || travels(b) || lengthOf(a) == lengthOf(b);
}

} // namespace colldsl::generated
