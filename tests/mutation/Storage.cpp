#include "tests/mutation/Storage.h"

#include <algorithm>

namespace colldsl::mutation {

Storage::Storage(const Dag &dag, const Sizes &sizes, Tokens &tokens) : dag_(dag), sizes_(sizes) {
  int64_t cells = 0;
  for (uint32_t b = 0; b < dag.buffers.size(); ++b) {
    const Buffer &buffer = dag.buffers[b];
    ownBegins_.push_back(cells);
    cells += buffer.aliasOf == kNoBuffer ? extent(BufferId{b}) : 0;
    firstLengths_.push_back(static_cast<uint32_t>(entryLengths_.size()));
    if (buffer.layout == Layout::Capacity)
      entryLengths_.resize(entryLengths_.size() + buffer.blocks, kNoLength);
  }
  for (uint32_t b = 0; b < dag.buffers.size(); ++b)
    homes_.push_back(homeOf(BufferId{b}));
  entry_.assign(cells, kUnwritten);
  std::vector<Token> names;
  for (int64_t i = 0; i < cells; ++i)
    names.push_back(tokens.makeEntry());
  for (uint32_t b = 0; b < dag.buffers.size(); ++b)
    fill(BufferId{b}, names);
  allowWrites();
}

/// Cells that the buffer covers, or would if it had storage of its own.
int64_t Storage::extent(BufferId id) const {
  const Buffer &buffer = dag_.buffers[index(id)];
  if (!buffer.significant)
    return 0;
  if (buffer.layout != Layout::CallTime)
    return static_cast<int64_t>(extentBytes(buffer, sizes_) / kElementBytes);
  const BlockTable &table = sizes_.blocks[index(id)];
  uint64_t end = 0;
  for (size_t i = 0; i < table.offset.size(); ++i)
    end = std::max(end, table.offset[i] + table.length[i]);
  return static_cast<int64_t>(end);
}

Storage::Home Storage::homeOf(BufferId id) const {
  int64_t within = 0;
  const Buffer *buffer = &dag_.buffers[index(id)];
  BufferId root = id;
  while (buffer->aliasOf != kNoBuffer) {
    const Slice &slice = dag_.slices[buffer->aliasSlice];
    root = buffer->aliasOf;
    buffer = &dag_.buffers[index(root)];
    within += static_cast<int64_t>(resolve(slice, *buffer, sizes_).offset / kElementBytes);
  }
  return {ownBegins_[index(root)] + within, extent(id)};
}

bool Storage::isUsable(const Slice &slice) const {
  const Buffer &buffer = dag_.bufferOf(slice);
  bool fits =
      buffer.layout == Layout::Dense ? slice.block == kNoBlock : slice.block < buffer.blocks;
  return buffer.significant && fits;
}

bool Storage::travels(const Slice &slice) const {
  return dag_.bufferOf(slice).layout == Layout::Capacity;
}

std::optional<Cells> Storage::locate(const Slice &slice, BlockLength blockLength) const {
  if (!isUsable(slice))
    return std::nullopt;
  const Buffer &buffer = dag_.bufferOf(slice);
  const Home &home = homes_[index(slice.buffer)];
  uint64_t n = sizes_.elements;
  int64_t origin = -positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n);
  if (slice.block != kNoBlock) {
    const BlockTable &table = sizes_.blocks[index(slice.buffer)];
    origin = static_cast<int64_t>(table.offset[slice.block]);
    n = travels(slice) ? static_cast<uint64_t>(blockLength) : table.length[slice.block];
    if (travels(slice) && blockLength < 0)
      return std::nullopt;
  }
  int64_t begin = origin + positionAt(slice.beginScale, slice.beginOffset, slice.denominator, n);
  int64_t end = origin + positionAt(slice.endScale, slice.endOffset, slice.denominator, n);
  if (begin < 0 || end < begin || end > home.length)
    return std::nullopt;
  return Cells{static_cast<uint32_t>(home.begin + begin), static_cast<uint32_t>(end - begin)};
}

std::optional<Cells> Storage::locateAtEntry(const Slice &slice) const {
  if (!isUsable(slice) || slice.block == kNoBlock)
    return locate(slice);
  return locate(slice,
                static_cast<int64_t>(sizes_.blocks[index(slice.buffer)].length[slice.block]));
}

std::optional<Cells> Storage::roomOf(const Slice &slice) const {
  if (!isUsable(slice))
    return std::nullopt;
  const Home &home = homes_[index(slice.buffer)];
  auto room = static_cast<uint32_t>(home.length / dag_.bufferOf(slice).blocks);
  return Cells{static_cast<uint32_t>(home.begin) + slice.block * room, room};
}

/// What an in or inout parameter holds at entry, and how long its blocks are.
void Storage::fill(BufferId id, const std::vector<Token> &tokens) {
  const Buffer &buffer = dag_.buffers[index(id)];
  bool holds =
      buffer.significant && (buffer.role == BufferRole::In || buffer.role == BufferRole::InOut);
  if (!holds)
    return;
  auto copy = [&](int64_t begin, int64_t length) {
    std::copy_n(tokens.begin() + begin, length, entry_.begin() + begin);
  };
  const Home &home = homes_[index(id)];
  lendLength(buffer);
  if (buffer.layout == Layout::Dense)
    return copy(home.begin, home.length);
  const BlockTable &table = sizes_.blocks[index(id)];
  for (uint32_t i = 0; i < buffer.blocks; ++i) {
    copy(home.begin + static_cast<int64_t>(table.offset[i]), static_cast<int64_t>(table.length[i]));
    if (buffer.layout == Layout::Capacity)
      entryLengths_[firstLengths_[index(id)] + i] = static_cast<int64_t>(table.length[i]);
  }
}

/// A parameter that lies in a block whose length travels gives it a length.
void Storage::lendLength(const Buffer &alias) {
  if (alias.aliasOf == kNoBuffer)
    return;
  const Slice &slice = dag_.slices[alias.aliasSlice];
  if (travels(slice))
    entryLengths_[lengthIndex(slice)] =
        static_cast<int64_t>(sizes_.blocks[index(slice.buffer)].length[slice.block]);
}

void Storage::allowWrites() {
  mayWrite_.assign(entry_.size(), false);
  auto set = [&](int64_t begin, int64_t length, bool may) {
    std::fill_n(mayWrite_.begin() + begin, length, may);
  };
  for (uint32_t b = 0; b < dag_.buffers.size(); ++b)
    if (dag_.buffers[b].role == BufferRole::Temp)
      set(homes_[b].begin, homes_[b].length, true);
  for (const Ensure &ensure : dag_.contract.ensures)
    if (auto cells = travels(ensure.target) ? roomOf(ensure.target) : locate(ensure.target))
      set(cells->begin, cells->length, true);
  for (uint32_t b = 0; b < dag_.buffers.size(); ++b)
    if (dag_.buffers[b].role == BufferRole::In && dag_.buffers[b].aliasOf == kNoBuffer)
      set(homes_[b].begin, homes_[b].length, false);
}

} // namespace colldsl::mutation
