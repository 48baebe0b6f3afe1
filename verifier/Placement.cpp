#include "verifier/Placement.h"

#include "ir/Bounds.h"

#include <algorithm>

namespace colldsl::proof {
namespace {

Area faulty(Fault fault) {
  Area area;
  area.fault = fault;
  return area;
}

/// Bytes [range) of a buffer whose bytes are `whole`, if they lie within [limit).
Area within(const Area &whole, ByteRange limit, ByteRange range) {
  bool inLimit = range.offset >= limit.offset && range.offset <= limit.end() &&
                 range.length <= limit.end() - range.offset;
  if (!inLimit || limit.end() > whole.length())
    return faulty(Fault::Outside);
  Area area = whole;
  area.begin = whole.begin + range.offset;
  area.end = area.begin + range.length;
  return area;
}

uint64_t callTimeExtent(const Buffer &buffer, const BlockTable *table) {
  uint64_t elements = 0;
  for (size_t i = 0; table && i < table->offset.size(); ++i)
    elements = std::max(elements, table->offset[i] + table->length[i]);
  return elements * sizeBytes(buffer.type);
}

uint64_t sizeOf(const Buffer &buffer, BufferId id, const Sizes &sizes) {
  switch (buffer.layout) {
  case Layout::Dense:
  case Layout::Capacity:
    return extentBytes(buffer, sizes);
  case Layout::CallTime:
    return callTimeExtent(buffer, blockTable(sizes, id));
  }
  return 0;
}

ByteRange capacityOf(uint32_t block, const Buffer &buffer, BufferId id, const Sizes &sizes) {
  return {blockTable(sizes, id)->offset[block] * sizeBytes(buffer.type),
          capacityBytes(buffer, sizes)};
}

Fault blockFault(const Slice &slice, const Buffer &buffer, const Sizes &sizes) {
  if (slice.block >= buffer.blocks)
    return Fault::NoBlock;
  if (buffer.layout == Layout::Capacity && !isWholeBlock(slice))
    return Fault::PartOfBlock;
  const BlockTable *table = blockTable(sizes, slice.buffer);
  bool given = table && slice.block < table->offset.size() && slice.block < table->length.size();
  return given ? Fault::None : Fault::NoSizes;
}

Fault fault(const Slice &slice, const Dag &dag, const Sizes &sizes) {
  if (index(slice.buffer) >= dag.buffers.size())
    return Fault::NoBuffer;
  const Buffer &buffer = dag.bufferOf(slice);
  if (!buffer.significant)
    return Fault::NotSignificant;
  if ((buffer.layout == Layout::Dense) != (slice.block == kNoBlock) || slice.denominator == 0)
    return Fault::NoBlock;
  return slice.block == kNoBlock ? Fault::None : blockFault(slice, buffer, sizes);
}

} // namespace

const BlockTable *blockTable(const Sizes &sizes, BufferId buffer) {
  return index(buffer) < sizes.blocks.size() ? &sizes.blocks[index(buffer)] : nullptr;
}

uint64_t capacityBytes(const Buffer &buffer, const Sizes &sizes) {
  return buffer.blocks == 0 ? 0 : extentBytes(buffer, sizes) / buffer.blocks;
}

Placement::Placement(const Model &model) : model_(model) {
  wholes_.resize(model.numRanks());
  areas_.resize(model.numRanks());
  for (uint32_t r = 0; r < model.numRanks(); ++r) {
    const Dag &dag = model.dag(Rank{r});
    wholes_[r].resize(dag.buffers.size());
    for (uint32_t b = 0; b < dag.buffers.size(); ++b)
      wholes_[r][b] = placeBuffer(Rank{r}, dag.buffers[b], BufferId{b});
    areas_[r].reserve(dag.slices.size());
    for (const Slice &slice : dag.slices)
      areas_[r].push_back(locate(Rank{r}, slice));
  }
}

/// An alias may be part of an alias: the walk to the root is bounded by the number of buffers.
Area Placement::placeBuffer(Rank rank, const Buffer &buffer, BufferId id) const {
  const Dag &dag = model_.dag(rank);
  const Sizes &sizes = model_.sizes(rank);
  Area area;
  area.root = id;
  area.end = buffer.significant ? sizeOf(buffer, id, sizes) : 0;
  const Buffer *at = &buffer;
  for (size_t hops = 0; at->aliasOf != kNoBuffer; ++hops) {
    if (hops > dag.buffers.size() || at->aliasSlice >= dag.slices.size())
      return faulty(Fault::NoBuffer);
    const Slice &slice = dag.slices[at->aliasSlice];
    if (Fault f = fault(slice, dag, sizes); f != Fault::None)
      return faulty(f);
    at = &dag.bufferOf(slice);
    ByteRange part = resolve(slice, *at, sizes);
    uint64_t room = at->layout == Layout::Capacity ? capacityBytes(*at, sizes) : part.length;
    uint64_t all = sizeOf(*at, slice.buffer, sizes);
    if (part.offset > all || area.length() > room || room > all - part.offset)
      return faulty(Fault::Outside);
    area = {slice.buffer, Fault::None, false, area.begin + part.offset, area.end + part.offset};
  }
  return area;
}

Area Placement::locate(Rank rank, const Slice &slice) const {
  const Dag &dag = model_.dag(rank);
  const Sizes &sizes = model_.sizes(rank);
  if (Fault f = fault(slice, dag, sizes); f != Fault::None)
    return faulty(f);
  const Buffer &buffer = dag.bufferOf(slice);
  Area all = whole(rank, slice.buffer);
  if (all.fault != Fault::None)
    return all;
  ByteRange limit{0, all.length()};
  if (buffer.layout == Layout::Capacity) {
    limit = capacityOf(slice.block, buffer, slice.buffer, sizes);
    all.hasCapacity = true;
    return within(all, limit, limit);
  }
  if (buffer.layout == Layout::CallTime) {
    const BlockTable &table = *blockTable(sizes, slice.buffer);
    uint64_t elementBytes = sizeBytes(buffer.type);
    limit = {table.offset[slice.block] * elementBytes, table.length[slice.block] * elementBytes};
  }
  return within(all, limit, resolve(slice, buffer, sizes));
}

Area Placement::locateAtEntry(Rank rank, const Slice &slice) const {
  Area area = locate(rank, slice);
  if (!area.hasCapacity)
    return area;
  return locateInBlock(rank, slice,
                       blockTable(model_.sizes(rank), slice.buffer)->length[slice.block]);
}

Area Placement::locateInBlock(Rank rank, const Slice &slice, uint64_t elements) const {
  const Buffer &buffer = model_.dag(rank).bufferOf(slice);
  ByteRange limit = capacityOf(slice.block, buffer, slice.buffer, model_.sizes(rank));
  uint64_t elementBytes = sizeBytes(buffer.type);
  int64_t begin = positionAt(slice.beginScale, slice.beginOffset, slice.denominator, elements);
  int64_t end = positionAt(slice.endScale, slice.endOffset, slice.denominator, elements);
  if (begin < 0 || end < begin)
    return faulty(Fault::Outside);
  ByteRange range{limit.offset + begin * elementBytes, (end - begin) * elementBytes};
  return within(whole(rank, slice.buffer), limit, range);
}

// In a proof of all lengths blocks lie in their order, so a binary search finds the block of a
// byte.
LengthId Placement::lengthAt(Rank rank, BufferId root, uint64_t byte) const {
  const Buffer &buffer = model_.dag(rank).buffers[index(root)];
  if (buffer.layout != Layout::CallTime)
    return kFixedLength;
  const std::vector<uint64_t> &offsets = blockTable(model_.sizes(rank), root)->offset;
  auto after = std::upper_bound(offsets.begin(), offsets.end(), byte / sizeBytes(buffer.type));
  Slice block;
  block.buffer = root;
  block.block = static_cast<uint32_t>(after - offsets.begin()) - 1;
  return model_.lengthOf(rank, block);
}

std::span<const Area> Placement::sources(Vertex v) const {
  const Op &op = model_.op(v);
  return std::span(areas_[index(model_.rankOf(v))]).subspan(op.sourceBegin, op.sourceCount);
}

std::span<const Area> Placement::targets(Vertex v) const {
  const Op &op = model_.op(v);
  return std::span(areas_[index(model_.rankOf(v))]).subspan(op.targetBegin, op.targetCount);
}

} // namespace colldsl::proof
