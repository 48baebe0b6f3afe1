#include "runtime/graph/GraphBlocks.h"

#include "passes/MessageEnds.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

/// The units before each block, and before the end.
std::vector<int64_t> placesOf(const std::vector<uint32_t> &blocks) {
  std::vector<int64_t> places(blocks.size() + 1);
  std::inclusive_scan(blocks.begin(), blocks.end(), places.begin() + 1, std::plus<>(), int64_t{0});
  return places;
}

void stretch(Dag &dag, uint32_t buffer, const std::vector<uint32_t> &blocks) {
  std::vector<int64_t> places = placesOf(blocks);
  auto place = [&](int64_t &scale) { scale = places[static_cast<size_t>(scale)]; };
  for (Slice &slice : dag.slices)
    if (index(slice.buffer) == buffer) {
      place(slice.beginScale);
      place(slice.endScale);
    }
  place(dag.buffers[buffer].endScale);
}

size_t firstUnit(const Dag &dag, const Slice &slice) {
  return static_cast<size_t>(slice.beginScale - dag.bufferOf(slice).originScale);
}

size_t numUnits(const Slice &slice) {
  return static_cast<size_t>(slice.endScale - slice.beginScale);
}

} // namespace

void stretch(Schedule &schedule, const UnitLists &sent, const UnitLists &received) {
  for (size_t r = 0; r < schedule.ranks.size(); ++r) {
    stretch(schedule.ranks[r], 0, sent[r]);
    stretch(schedule.ranks[r], 1, received[r]);
  }
}

/// Bytes that an op reads, and the op that writes them, on another rank or on this one.
struct GraphBlocks::Move {
  Rank from, to;
  OpId read, written;
};

Result<GraphBlocks> GraphBlocks::follow(const Schedule &schedule, const UnitLists &sent) {
  Result<std::vector<MessageEnds>> messages = messagesOf(schedule);
  if (!messages)
    return messages.status();
  GraphBlocks blocks;
  std::vector<Move> moves;
  for (const MessageEnds &m : *messages)
    moves.push_back({m.from, m.to, m.send, m.recv});
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const Dag &dag = schedule.ranks[r];
    Units &units = blocks.ranks_.emplace_back();
    for (const Buffer &buffer : dag.buffers)
      units.emplace_back(static_cast<size_t>(buffer.endScale - buffer.originScale));
    size_t at = 0;
    for (uint32_t length : sent[r]) {
      std::fill_n(units[0].begin() + static_cast<ptrdiff_t>(at), length, Unit::Further);
      units[0][at] = Unit::First;
      at += length;
    }
    for (uint32_t op = 0; op < dag.size(); ++op)
      if (dag.ops[op].kind == OpKind::Copy)
        moves.push_back({Rank{r}, Rank{r}, OpId{op}, OpId{op}});
  }
  // A relay passes on what it knows: each turn follows all blocks by one step at least.
  for (size_t before = SIZE_MAX; !moves.empty() && moves.size() < before;) {
    before = moves.size();
    std::erase_if(moves, [&](const Move &m) { return blocks.move(schedule, m); });
  }
  for (uint32_t r = 0; r < schedule.numRanks(); ++r)
    if (!moves.empty() || !blocks.areWhole(schedule.ranks[r], blocks.ranks_[r]))
      return Status::error("the blocks of some messages are not whole");
  return blocks;
}

/// False: some unit that is read is not known yet.
bool GraphBlocks::move(const Schedule &schedule, const Move &move) {
  const Dag &from = schedule.ranks[index(move.from)], &to = schedule.ranks[index(move.to)];
  std::vector<Unit> read;
  for (const Slice &slice : from.sources(from.op(move.read))) {
    auto at = ranks_[index(move.from)][index(slice.buffer)].begin() +
              static_cast<ptrdiff_t>(firstUnit(from, slice));
    read.insert(read.end(), at, at + static_cast<ptrdiff_t>(numUnits(slice)));
  }
  if (std::find(read.begin(), read.end(), Unit::Unknown) != read.end())
    return false;
  auto next = read.begin();
  for (const Slice &slice : to.targets(to.op(move.written))) {
    auto units = static_cast<ptrdiff_t>(numUnits(slice));
    std::copy_n(next, units,
                ranks_[index(move.to)][index(slice.buffer)].begin() +
                    static_cast<ptrdiff_t>(firstUnit(to, slice)));
    next += units;
  }
  return true;
}

/// True if all slices begin and end where blocks do.
bool GraphBlocks::areWhole(const Dag &dag, const Units &units) const {
  auto isEdge = [](const std::vector<Unit> &all, size_t at) {
    return at == all.size() || all[at] == Unit::First;
  };
  for (const Op &op : dag.ops)
    for (std::span<const Slice> slices : {dag.sources(op), dag.targets(op)})
      for (const Slice &slice : slices) {
        const std::vector<Unit> &all = units[index(slice.buffer)];
        size_t first = firstUnit(dag, slice);
        if (!isEdge(all, first) || !isEdge(all, first + numUnits(slice)))
          return false;
      }
  return true;
}

uint64_t GraphBlocks::mostOfRank() const {
  uint64_t most = 1;
  for (const Units &units : ranks_) {
    uint64_t here = 0;
    for (const std::vector<Unit> &all : units)
      here += static_cast<uint64_t>(std::count(all.begin(), all.end(), Unit::First));
    most = std::max(most, here);
  }
  return most;
}

Dag GraphBlocks::withLengths(const Schedule &schedule, Rank rank) const {
  const Dag &dag = schedule.ranks[index(rank)];
  const Units &units = ranks_[index(rank)];
  Dag made;
  made.contract = dag.contract;
  std::vector<std::vector<uint32_t>> numbers; // by buffer and unit: the blocks before
  for (size_t b = 0; b < dag.buffers.size(); ++b) {
    std::vector<uint32_t> &before = numbers.emplace_back();
    uint32_t blocks = 0;
    for (Unit unit : units[b]) {
      before.push_back(blocks);
      blocks += unit == Unit::First;
    }
    Buffer buffer = dag.buffers[b];
    buffer.blocks = blocks;
    buffer.endScale = buffer.blocks;
    buffer.originScale = 0;
    buffer.layout = Layout::Capacity;
    made.addBuffer(buffer);
  }
  auto blocksOf = [&](std::span<const Slice> slices) {
    std::vector<Slice> blocks;
    for (const Slice &slice : slices)
      for (size_t i = 0, at = firstUnit(dag, slice); i < numUnits(slice); ++i, ++at)
        if (units[index(slice.buffer)][at] == Unit::First) {
          Slice block;
          block.endScale = 1;
          block.buffer = slice.buffer;
          block.block = numbers[index(slice.buffer)][at];
          blocks.push_back(block);
        }
    return blocks;
  };
  for (const Op &op : dag.ops)
    made.add(op, blocksOf(dag.sources(op)), blocksOf(dag.targets(op)), dag.depsOf(op));
  return made;
}

} // namespace colldsl
