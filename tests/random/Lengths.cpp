#include "tests/random/Lengths.h"

#include "tests/random/Interpret.h"

#include <algorithm>

namespace colldsl::generated {
namespace {

/// Of all blocks while it is found out which are equal: parts of a block are not as long as it is.
constexpr int64_t kProbe = 60;
constexpr int64_t kMaxLength = 4;

bool isOfBlock(const Slice &slice) { return slice.block != kNoBlock; }

/// A block of capacity is promised as a whole.
bool isWhole(const Slice &slice) {
  return slice.endScale == 1 || (slice.beginOffset == 0 && slice.endOffset == kProbe);
}

bool isSamePart(const Slice &a, const Slice &b) {
  return (isWhole(a) && isWhole(b)) ||
         (a.beginOffset == b.beginOffset && a.endOffset == b.endOffset);
}

} // namespace

/// Joins blocks as the contract equates them.
class ClassMaker {
public:
  explicit ClassMaker(const Schedule &contract) : contract_(contract) {
    for (uint32_t r = 0; r < contract.numRanks(); ++r)
      for (uint32_t b = 0; b < contract.ranks[r].buffers.size(); ++b)
        addBlocks(r, b);
  }

  Result<LengthClasses> make() {
    for (uint32_t r = 0; r < contract_.numRanks(); ++r) {
      const Dag &dag = contract_.ranks[r];
      for (uint32_t b = 0; b < dag.buffers.size(); ++b)
        if (const Buffer &buffer = dag.buffers[b];
            buffer.aliasOf != kNoBuffer && buffer.layout != Layout::Dense)
          join(idOf(r, b, 0), blockOf(r, dag.slices[buffer.aliasSlice]));
      for (const colldsl::Ensure &ensure : dag.contract.ensures)
        for (const EntryValue &operand : dag.contract.operandsOf(ensure))
          equate(r, ensure.target, index(operand.rank), operand.slice);
    }
    if (isWrong_)
      return Status::error("no lengths of blocks are right");
    LengthClasses result;
    for (auto &[key, id] : result_.classOf_)
      result.classOf_[key] = find(id);
    result.classes_ = result_.classes_;
    for (const LengthClasses::Class &c : result.classes_)
      if (c.fixed && *c.fixed > c.room)
        return Status::error("no lengths of blocks are right");
    return result;
  }

private:
  void addBlocks(uint32_t rank, uint32_t b) {
    const Buffer &buffer = contract_.ranks[rank].buffers[b];
    for (uint32_t i = 0; buffer.layout != Layout::Dense && i < buffer.blocks; ++i) {
      result_.classOf_[{rank, b, i}] = static_cast<uint32_t>(parents_.size());
      parents_.push_back(static_cast<uint32_t>(parents_.size()));
      result_.classes_.emplace_back();
      if (buffer.layout == Layout::Capacity)
        result_.classes_.back().room = buffer.endOffset / buffer.blocks;
    }
  }

  uint32_t idOf(uint32_t rank, uint32_t buffer, uint32_t block) const {
    return result_.classOf_.at({rank, buffer, block});
  }
  uint32_t blockOf(uint32_t rank, const Slice &slice) const {
    return idOf(rank, index(slice.buffer), slice.block);
  }

  uint32_t find(uint32_t id) const {
    while (parents_[id] != id)
      id = parents_[id];
    return id;
  }

  void equate(uint32_t rankA, const Slice &a, uint32_t rankB, const Slice &b) {
    if (isOfBlock(a) && isOfBlock(b) && isSamePart(a, b))
      return join(blockOf(rankA, a), blockOf(rankB, b));
    if (isOfBlock(a) && !isOfBlock(b) && isWhole(a))
      return fix(blockOf(rankA, a), b.endOffset - b.beginOffset);
    if (isOfBlock(b) && !isOfBlock(a) && isWhole(b))
      return fix(blockOf(rankB, b), a.endOffset - a.beginOffset);
  }

  void join(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    parents_[b] = a;
    LengthClasses::Class &into = result_.classes_[a];
    into.room = std::min(into.room, result_.classes_[b].room);
    if (result_.classes_[b].fixed)
      fix(a, *result_.classes_[b].fixed);
  }

  void fix(uint32_t id, int64_t length) {
    LengthClasses::Class &c = result_.classes_[find(id)];
    isWrong_ |= c.fixed && *c.fixed != length;
    c.fixed = length;
  }

  const Schedule &contract_;
  LengthClasses result_; ///< its numbers are not those of classes yet
  std::vector<uint32_t> parents_;
  bool isWrong_ = false;
};

Result<LengthClasses> LengthClasses::of(const Program &program) {
  Program probe = program;
  probe.lengths = {kProbe, {}};
  Result<Schedule> contract = interpretContract(probe);
  if (!contract)
    return contract.status();
  return ClassMaker(*contract).make();
}

BlockLengths LengthClasses::choose(Choice choice, Random &random) const {
  std::vector<int64_t> lengths;
  for (const Class &c : classes_) {
    int64_t full = std::min(c.room, random.between(1, kMaxLength));
    int64_t any = random.chance(25) ? 0 : random.below(std::min(c.room, kMaxLength) + 1);
    bool isEmpty = choice == Choice::Empty || choice == Choice::OneFull;
    lengths.push_back(choice == Choice::Random ? any : isEmpty ? 0 : full);
  }
  if (!classOf_.empty() && (choice == Choice::OneEmpty || choice == Choice::OneFull)) {
    auto one = classOf_.begin();
    std::advance(one, random.below(static_cast<int64_t>(classOf_.size())));
    lengths[one->second] =
        choice == Choice::OneEmpty ? 0 : std::min<int64_t>(classes_[one->second].room, 2);
  }
  BlockLengths result;
  for (const auto &[key, id] : classOf_)
    result.listed[key] = classes_[id].fixed.value_or(lengths[id]);
  return result;
}

namespace {

/// Of a parameter's blocks.
BlockTable tableOf(const Program &program, uint32_t rank, uint32_t id, const Buffer &buffer) {
  BlockTable table;
  for (uint32_t i = 0; i < buffer.blocks; ++i)
    table.length.push_back(static_cast<uint64_t>(program.lengths.of(rank, id, i)));
  table.offset.resize(buffer.blocks);
  Random random(uint64_t{rank} << 8 | id);
  bool isAlone = buffer.aliasOf == kNoBuffer;
  int64_t turn = isAlone && buffer.blocks > 0 ? random.below(buffer.blocks) : 0;
  uint64_t end = isAlone ? static_cast<uint64_t>(random.below(3)) : 0;
  for (uint32_t i = 0; i < buffer.blocks; ++i) {
    auto at = (i + static_cast<uint32_t>(turn)) % buffer.blocks;
    table.offset[at] = end;
    end += table.length[at] + (isAlone ? static_cast<uint64_t>(random.below(2)) : 0);
  }
  return table;
}

/// Of blocks of capacity, one behind the other.
void placeInRow(BlockTable &table, const Buffer &buffer, uint64_t size) {
  Sizes sizes;
  sizes.elements = size;
  uint64_t room =
      buffer.blocks == 0 ? 0 : extentBytes(buffer, sizes) / sizeBytes(buffer.type) / buffer.blocks;
  for (uint32_t i = 0; i < buffer.blocks; ++i)
    table.offset[i] = i * room;
}

} // namespace

std::vector<Sizes> sizesFor(const Program &program, const Schedule &schedule) {
  auto size = static_cast<uint64_t>(program.sizeOf(program.mainSize()));
  std::vector<Sizes> all(schedule.numRanks());
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    const std::vector<Buffer> &buffers = schedule.ranks[r].buffers;
    all[r].elements = size;
    for (uint32_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].layout == Layout::Dense)
        continue;
      all[r].blocks.resize(buffers.size());
      all[r].blocks[b] = tableOf(program, r, b, buffers[b]);
      if (buffers[b].layout == Layout::Capacity)
        placeInRow(all[r].blocks[b], buffers[b], size);
    }
  }
  return all;
}

} // namespace colldsl::generated
