#include "verifier/BlockLengths.h"

#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <optional>

// Classes of blocks that aliases and postconditions equate, by union-find. Example: y[r] == x@r on
// each rank: the block r of every y has the length of x on rank r.

namespace colldsl::proof {
namespace {

bool hasBlocks(const Buffer &buffer) { return buffer.layout != Layout::Dense; }

bool sameForm(const Slice &a, const Slice &b) {
  return a.beginScale == b.beginScale && a.beginOffset == b.beginOffset &&
         a.endScale == b.endScale && a.endOffset == b.endOffset && a.denominator == b.denominator;
}

/// Elements of a block of capacity.
uint64_t capacityOf(const Buffer &buffer, uint64_t elements) {
  Sizes sizes;
  sizes.elements = elements;
  return buffer.blocks == 0 ? 0
                            : extentBytes(buffer, sizes) / sizeBytes(buffer.type) / buffer.blocks;
}

} // namespace

class LengthUnions {
public:
  LengthUnions(const Schedule &schedule, uint64_t elements)
      : schedule_(schedule), elements_(elements), result_(schedule, elements) {
    if (!schedule.hasCallTimeBlocks())
      return;
    for (const Dag &dag : schedule.ranks) {
      result_.firsts_.emplace_back();
      for (const Buffer &buffer : dag.buffers)
        addBuffer(buffer);
    }
  }

  Result<BlockLengths> run() {
    if (!schedule_.hasCallTimeBlocks())
      return std::move(result_);
    if (Status s = equateAll(); !s)
      return s;
    std::vector<LengthId> idOf(parents_.size(), kFixedLength);
    for (uint32_t i = 0; i < parents_.size(); ++i) {
      uint32_t root = find(i);
      const Class &c = classes_[root];
      if (c.length && *c.length > c.most)
        return Status::error("a block must have " + std::to_string(*c.length) +
                             " elements, but has room for " + std::to_string(c.most));
      if (!c.length && idOf[root] == kFixedLength) {
        idOf[root] = LengthId{result_.count()};
        result_.most_.push_back(c.most);
      }
      result_.blocks_.push_back({idOf[root], c.length.value_or(0)});
    }
    return std::move(result_);
  }

private:
  struct Class {
    std::optional<uint64_t> length; ///< fixed
    uint64_t most = UINT64_MAX;
  };

  void addBuffer(const Buffer &buffer) {
    result_.firsts_.back().push_back(static_cast<uint32_t>(parents_.size()));
    bool isCapacity = buffer.layout == Layout::Capacity;
    uint64_t most = isCapacity ? capacityOf(buffer, elements_) : UINT64_MAX;
    for (uint32_t i = 0; hasBlocks(buffer) && i < buffer.blocks; ++i) {
      parents_.push_back(static_cast<uint32_t>(parents_.size()));
      classes_.push_back({std::nullopt, most});
    }
  }

  uint32_t find(uint32_t i) {
    while (parents_[i] != i)
      i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  Status equateAll() {
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
    return result_.firsts_[index(rank)][index(slice.buffer)] + slice.block;
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
    if (a == b)
      return {};
    parents_[b] = a;
    classes_[a].most = smaller(classes_[a].most, classes_[b].most);
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

  const Schedule &schedule_;
  uint64_t elements_;
  BlockLengths result_;
  std::vector<uint32_t> parents_; ///< per block: a union-find forest
  std::vector<Class> classes_;    ///< per block; that of a root counts
};

Result<BlockLengths> BlockLengths::of(const Schedule &schedule, uint64_t elements) {
  return LengthUnions(schedule, elements).run();
}

std::vector<uint64_t> BlockLengths::nonEmpty() const {
  std::vector<uint64_t> lengths;
  for (uint64_t most : most_)
    lengths.push_back(most == UINT64_MAX ? 5 + lengths.size() % 7 : most);
  return lengths;
}

LengthId BlockLengths::idOf(Rank rank, const Slice &slice) const {
  if (slice.block == kNoBlock)
    return kFixedLength;
  return blocks_[firsts_[index(rank)][index(slice.buffer)] + slice.block].id;
}

BlockTable BlockLengths::table(uint32_t rank, uint32_t buffer,
                               std::span<const uint64_t> lengths) const {
  const Buffer &b = schedule_->ranks[rank].buffers[buffer];
  BlockTable table;
  uint64_t end = 0;
  for (uint32_t i = 0; i < b.blocks; ++i) {
    const Block &block = blocks_[firsts_[rank][buffer] + i];
    uint64_t length = block.id == kFixedLength ? block.fixed : lengths[index(block.id)];
    bool isCapacity = b.layout == Layout::Capacity;
    table.offset.push_back(isCapacity ? i * capacityOf(b, elements_) : end);
    table.length.push_back(length);
    end += length + (b.aliasOf == kNoBuffer); // neighbours are no one piece
  }
  return table;
}

std::vector<Sizes> BlockLengths::sizes(std::span<const uint64_t> lengths) const {
  std::vector<Sizes> sizes(schedule_->numRanks());
  for (uint32_t r = 0; r < sizes.size(); ++r) {
    sizes[r].elements = elements_;
    const std::vector<Buffer> &buffers = schedule_->ranks[r].buffers;
    if (firsts_.empty()) // no buffer of any rank has blocks
      continue;
    sizes[r].blocks.resize(buffers.size());
    for (uint32_t b = 0; b < buffers.size(); ++b)
      if (hasBlocks(buffers[b]))
        sizes[r].blocks[b] = table(r, b, lengths);
  }
  return sizes;
}

} // namespace colldsl::proof
