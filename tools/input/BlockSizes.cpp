#include "tools/input/BlockSizes.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace colldsl::tools {
namespace {

using Random = std::mt19937_64;

bool hasBlocks(const Buffer &buffer) { return buffer.layout != Layout::Dense; }

bool sameForm(const Slice &a, const Slice &b) {
  return a.beginScale == b.beginScale && a.beginOffset == b.beginOffset &&
         a.endScale == b.endScale && a.endOffset == b.endOffset && a.denominator == b.denominator;
}

bool isWholeBlock(const Slice &s) {
  return s.beginScale == 0 && s.beginOffset == 0 && s.endOffset == 0 &&
         s.endScale == static_cast<int64_t>(s.denominator);
}

/// All blocks of all ranks, and which of them have the same length.
class Blocks {
public:
  Blocks(const Schedule &schedule, uint64_t elements) : schedule_(schedule), elements_(elements) {
    for (const Dag &dag : schedule.ranks) {
      firsts_.emplace_back();
      for (const Buffer &buffer : dag.buffers)
        addBuffer(buffer);
    }
  }

  /// What follows from aliases and postconditions about lengths.
  Status equate() {
    for (uint32_t r = 0; r < schedule_.numRanks(); ++r) {
      const Dag &dag = schedule_.ranks[r];
      for (uint32_t b = 0; b < dag.buffers.size(); ++b)
        if (dag.buffers[b].aliasOf != kNoBuffer)
          if (Status s = equateAlias(r, BufferId{b}); !s)
            return s;
      for (const Ensure &ensure : dag.contract.ensures)
        for (const EntryValue &operand : dag.contract.operandsOf(ensure))
          if (Status s = equate(Rank{r}, ensure.target, operand.rank, operand.slice, ensure.loc);
              !s)
            return s;
    }
    return {};
  }

  Status choose(Random &random) {
    for (uint32_t i = 0; i < parents_.size(); ++i) {
      Class &c = classes_[find(i)];
      if (c.length && *c.length > c.capacity)
        return Status::error("a block must have " + std::to_string(*c.length) +
                             " elements, but has room for " + std::to_string(c.capacity));
      if (!c.length)
        c.length = randomLength(random, c.capacity);
    }
    return {};
  }

  BlockTable table(uint32_t rank, uint32_t buffer, Random &random) {
    const Buffer &b = schedule_.ranks[rank].buffers[buffer];
    BlockTable table;
    for (uint32_t i = 0; i < b.blocks; ++i)
      table.length.push_back(*classes_[find(firsts_[rank][buffer] + i)].length);
    if (b.layout == Layout::Capacity)
      placeInRow(table, capacity(b));
    else
      scatter(table, b.aliasOf == kNoBuffer ? &random : nullptr);
    return table;
  }

private:
  struct Class {
    std::optional<uint64_t> length; ///< fixed, or chosen
    uint64_t capacity = UINT64_MAX;
  };

  void addBuffer(const Buffer &buffer) {
    firsts_.back().push_back(static_cast<uint32_t>(parents_.size()));
    for (uint32_t i = 0; hasBlocks(buffer) && i < buffer.blocks; ++i) {
      parents_.push_back(static_cast<uint32_t>(parents_.size()));
      classes_.push_back(
          {std::nullopt, buffer.layout == Layout::Capacity ? capacity(buffer) : UINT64_MAX});
    }
  }

  uint64_t capacity(const Buffer &buffer) const {
    Sizes sizes;
    sizes.elements = elements_;
    uint64_t elements = extentBytes(buffer, sizes) / sizeBytes(buffer.type);
    return buffer.blocks == 0 ? 0 : elements / buffer.blocks;
  }

  uint32_t find(uint32_t i) {
    while (parents_[i] != i)
      i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  Status equateAlias(uint32_t r, BufferId id) {
    const Dag &dag = schedule_.ranks[r];
    const Buffer &buffer = dag.buffers[index(id)];
    Slice own;
    own.buffer = id;
    own.endScale = 1;
    own.block = 0;
    if (!hasBlocks(buffer) || buffer.blocks != 1)
      own = {buffer.originScale, buffer.originOffset,
             buffer.endScale,    buffer.endOffset,
             buffer.denominator, id,
             kNoBlock,           0};
    return equate(Rank{r}, own, Rank{r}, dag.slices[buffer.aliasSlice], {});
  }

  Status equate(Rank rankA, const Slice &a, Rank rankB, const Slice &b, SourceLoc loc) {
    bool blockA = a.block != kNoBlock, blockB = b.block != kNoBlock;
    if (blockA && blockB)
      return sameForm(a, b) ? join(blockOf(rankA, a), blockOf(rankB, b), loc) : Status();
    if (blockA && isWholeBlock(a))
      return fix(blockOf(rankA, a), denseLength(rankB, b), loc);
    if (blockB && isWholeBlock(b))
      return fix(blockOf(rankB, b), denseLength(rankA, a), loc);
    return {};
  }

  uint32_t blockOf(Rank rank, const Slice &slice) const {
    return firsts_[index(rank)][index(slice.buffer)] + slice.block;
  }

  uint64_t denseLength(Rank rank, const Slice &slice) const {
    const Buffer &buffer = schedule_.ranks[index(rank)].bufferOf(slice);
    Sizes sizes;
    sizes.elements = elements_;
    return resolve(slice, buffer, sizes).length / sizeBytes(buffer.type);
  }

  Status join(uint32_t a, uint32_t b, SourceLoc loc) {
    a = find(a);
    b = find(b);
    parents_[b] = a;
    classes_[a].capacity = std::min(classes_[a].capacity, classes_[b].capacity);
    return classes_[b].length ? fix(a, *classes_[b].length, loc) : Status();
  }

  Status fix(uint32_t block, uint64_t length, SourceLoc loc) {
    Class &c = classes_[find(block)];
    if (c.length && *c.length != length)
      return Status::error(loc, "a block is promised to have " + std::to_string(*c.length) +
                                    " elements, and " + std::to_string(length) + " as well");
    c.length = length;
    return {};
  }

  uint64_t randomLength(Random &random, uint64_t capacity) const {
    bool isEmpty = random() % 4 == 0;
    uint64_t most = std::min(2 * elements_, capacity);
    return isEmpty ? 0 : random() % (most + 1);
  }

  static void placeInRow(BlockTable &table, uint64_t stride) {
    for (size_t i = 0; i < table.length.size(); ++i)
      table.offset.push_back(i * stride);
  }

  static void scatter(BlockTable &table, Random *random) {
    std::vector<uint32_t> order(table.length.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); random && i > 1; --i)
      std::swap(order[i - 1], order[(*random)() % i]);
    table.offset.resize(order.size());
    uint64_t end = 0;
    for (uint32_t i : order) {
      end += random ? (*random)() % 4 : 0;
      table.offset[i] = end;
      end += table.length[i];
    }
  }

  const Schedule &schedule_;
  uint64_t elements_;
  std::vector<std::vector<uint32_t>> firsts_; ///< per rank and buffer: its first block
  std::vector<uint32_t> parents_;             ///< per block: a union-find forest
  std::vector<Class> classes_;                ///< per block; that of a root counts
};

} // namespace

Result<std::vector<Sizes>> chooseSizes(const Schedule &schedule, uint64_t elements, uint64_t seed) {
  std::vector<Sizes> sizes(schedule.numRanks());
  for (Sizes &s : sizes)
    s.elements = elements;
  bool anyBlocks = std::any_of(schedule.ranks.begin(), schedule.ranks.end(), [](const Dag &dag) {
    return std::any_of(dag.buffers.begin(), dag.buffers.end(), hasBlocks);
  });
  if (!anyBlocks)
    return sizes;
  Blocks blocks(schedule, elements);
  Random random(seed);
  if (Status s = blocks.equate(); !s)
    return s;
  if (Status s = blocks.choose(random); !s)
    return s;
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const std::vector<Buffer> &buffers = schedule.ranks[r].buffers;
    sizes[r].blocks.resize(buffers.size());
    for (uint32_t b = 0; b < buffers.size(); ++b)
      if (hasBlocks(buffers[b]))
        sizes[r].blocks[b] = blocks.table(r, b, random);
  }
  return sizes;
}

} // namespace colldsl::tools
