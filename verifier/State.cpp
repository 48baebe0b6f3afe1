#include "verifier/State.h"

namespace colldsl::proof {
namespace {

Slice blockOf(BufferId buffer, uint32_t block) {
  Slice slice;
  slice.buffer = buffer;
  slice.block = block;
  return slice;
}

bool holdsAtEntry(const Buffer &buffer) {
  return buffer.significant && (buffer.role == BufferRole::In || buffer.role == BufferRole::InOut);
}

} // namespace

State::State(const Model &model, const Placement &placement, Values &values) : model_(model) {
  memory_.resize(model.numRanks());
  lengths_.resize(model.numRanks());
  for (uint32_t r = 0; r < model.numRanks(); ++r) {
    const Dag &dag = model.dag(Rank{r});
    memory_[r].resize(dag.buffers.size());
    lengths_[r].resize(dag.buffers.size());
    for (uint32_t b = 0; b < dag.buffers.size(); ++b)
      if (dag.buffers[b].layout == Layout::Capacity)
        lengths_[r][b].resize(dag.buffers[b].blocks);
    for (uint32_t b = 0; b < dag.buffers.size(); ++b)
      if (holdsAtEntry(dag.buffers[b]))
        enter(Rank{r}, BufferId{b}, placement, values);
  }
}

void State::enter(Rank rank, BufferId id, const Placement &placement, Values &values) {
  const Buffer &buffer = model_.dag(rank).buffers[index(id)];
  Area whole = placement.whole(rank, id);
  if (whole.fault != Fault::None)
    return;
  NodeId node = values.entry(rank, whole.root);
  auto hold = [&](uint64_t begin, uint64_t end) {
    if (begin < end && end <= whole.end)
      write(rank, whole.root, begin, {{node, begin}, end - begin}, kNoVertex);
  };
  lendLength(rank, buffer);
  if (buffer.layout == Layout::Dense)
    return hold(whole.begin, whole.end);
  const BlockTable *table = blockTable(model_.sizes(rank), id);
  uint64_t elementBytes = sizeBytes(buffer.type);
  for (size_t i = 0; table && i < table->offset.size(); ++i) {
    uint64_t begin = whole.begin + table->offset[i] * elementBytes;
    hold(begin, begin + table->length[i] * elementBytes);
  }
  if (buffer.layout == Layout::Capacity)
    enterBlocks(rank, id);
}

void State::enterBlocks(Rank rank, BufferId id) {
  Lengths &lengths = lengths_[index(rank)][index(id)];
  const BlockTable *table = blockTable(model_.sizes(rank), id);
  for (uint32_t i = 0; table && i < lengths.size() && i < table->length.size(); ++i)
    lengths[i] = {table->length[i], model_.lengthOf(rank, blockOf(id, i))};
}

/// A parameter that lies in a block of capacity gives this block a length at entry.
void State::lendLength(Rank rank, const Buffer &alias) {
  if (alias.aliasOf == kNoBuffer)
    return;
  const Slice &slice = model_.dag(rank).slices[alias.aliasSlice];
  const BlockTable *table = blockTable(model_.sizes(rank), slice.buffer);
  Lengths &lengths = lengths_[index(rank)][index(slice.buffer)];
  if (slice.block < lengths.size() && table && slice.block < table->length.size())
    lengths[slice.block] = {table->length[slice.block], model_.lengthOf(rank, slice)};
}

std::optional<Length> State::blockElements(Rank rank, const Slice &slice) const {
  return lengths_[index(rank)][index(slice.buffer)][slice.block];
}

void State::setBlockElements(Rank rank, const Slice &slice, Length elements) {
  lengths_[index(rank)][index(slice.buffer)][slice.block] = elements;
}

} // namespace colldsl::proof
