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
  lendLength(rank, id);
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
void State::lendLength(Rank rank, BufferId id) {
  const Buffer &alias = model_.dag(rank).buffers[index(id)];
  if (alias.aliasOf == kNoBuffer)
    return;
  const Slice &slice = ownerOf(rank, model_.dag(rank).slices[alias.aliasSlice]);
  Lengths &lengths = lengths_[index(rank)][index(slice.buffer)];
  const BlockTable *table = blockTable(model_.sizes(rank), id);
  if (slice.block >= lengths.size())
    return;
  if (alias.layout == Layout::Dense)
    lengths[slice.block] = {extentBytes(alias, model_.sizes(rank)) / sizeBytes(alias.type),
                            kFixedLength};
  else if (table && !table->length.empty())
    lengths[slice.block] = {table->length[0], model_.lengthOf(rank, blockOf(id, 0))};
}

/// The block that has the length: a block that lies in another one has none of its own.
const Slice &State::ownerOf(Rank rank, const Slice &slice) const {
  const Dag &dag = model_.dag(rank);
  const Slice *owner = &slice;
  for (size_t hops = 0; hops < dag.buffers.size(); ++hops) {
    const Buffer &buffer = dag.bufferOf(*owner);
    bool liesInBlock = buffer.aliasOf != kNoBuffer && buffer.blocks == 1 &&
                       dag.slices[buffer.aliasSlice].block != kNoBlock;
    if (!liesInBlock || dag.bufferOf(dag.slices[buffer.aliasSlice]).layout != Layout::Capacity)
      break;
    owner = &dag.slices[buffer.aliasSlice];
  }
  return *owner;
}

std::optional<Length> State::blockElements(Rank rank, const Slice &slice) const {
  const Slice &owner = ownerOf(rank, slice);
  return lengths_[index(rank)][index(owner.buffer)][owner.block];
}

void State::setBlockElements(Rank rank, const Slice &slice, Length elements, Vertex writer) {
  if (!changes_.empty())
    changes_[index(rank)].push_back({writer, {}, 0, {}, std::pair(slice, elements)});
  const Slice &owner = ownerOf(rank, slice);
  std::optional<Length> &length = lengths_[index(rank)][index(owner.buffer)][owner.block];
  auto [at, isFirst] = arrived_.try_emplace({index(rank), index(owner.buffer), owner.block});
  at->second |= !isFirst && length->id != elements.id;
  length = elements;
}

void State::apply(Rank rank, const Change &change) {
  if (change.length)
    setBlockElements(rank, change.length->first, change.length->second, change.writer);
  else
    write(rank, change.root, change.begin, change.piece, change.writer);
}

bool State::hadOtherLengths(Rank rank, const Slice &slice) const {
  const Slice &owner = ownerOf(rank, slice);
  auto at = arrived_.find({index(rank), index(owner.buffer), owner.block});
  return at != arrived_.end() && at->second;
}

} // namespace colldsl::proof
