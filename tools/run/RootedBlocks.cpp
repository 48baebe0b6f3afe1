#include "tools/run/RootedBlocks.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

class Finder {
public:
  Finder(const Schedule &schedule, const std::vector<Sizes> &sizes)
      : schedule_(schedule), sizes_(sizes) {}

  // One rank has a promise for each rank: y[r] == x@r.
  std::optional<uint32_t> gatherRoot() const {
    std::optional<uint32_t> root;
    for (uint32_t r = 0; r < ranks(); ++r) {
      if (schedule_.ranks[r].contract.ensures.empty())
        continue;
      if (root)
        return {};
      root = r;
    }
    if (!root)
      return {};
    std::vector<bool> has(ranks());
    for (const Ensure &ensure : schedule_.ranks[*root].contract.ensures) {
      const EntryValue *value = valueOf(*root, ensure);
      uint32_t from = value ? index(value->rank) : ranks();
      if (!value || has[from] || !isBlock(*root, ensure.target, from) ||
          !isOwn(from, value->slice, *root))
        return {};
      has[from] = true;
    }
    bool hasAll = std::find(has.begin(), has.end(), false) == has.end();
    return hasAll ? root : std::nullopt;
  }

  // Each rank has one promise, of a block of the root: y == x[rank]@root.
  std::optional<uint32_t> scatterRoot() const {
    std::optional<uint32_t> root;
    for (uint32_t r = 0; r < ranks(); ++r) {
      const std::vector<Ensure> &ensures = schedule_.ranks[r].contract.ensures;
      const EntryValue *value = ensures.size() == 1 ? valueOf(r, ensures[0]) : nullptr;
      if (!value || (root && *root != index(value->rank)) ||
          !isOwn(r, ensures[0].target, index(value->rank)) ||
          !isBlock(index(value->rank), value->slice, r))
        return {};
      root = index(value->rank);
    }
    return root;
  }

  bool isInPlace() const {
    return std::any_of(schedule_.ranks.begin(), schedule_.ranks.end(), [](const Dag &dag) {
      return std::any_of(dag.buffers.begin(), dag.buffers.end(), [](const Buffer &buffer) {
        return buffer.role != BufferRole::Temp && buffer.aliasOf != kNoBuffer;
      });
    });
  }

private:
  uint32_t ranks() const { return schedule_.numRanks(); }

  /// The value that is promised without a reduction; null: it is another promise.
  const EntryValue *valueOf(uint32_t rank, const Ensure &ensure) const {
    const EntryValue *value = &schedule_.ranks[rank].contract.operands[ensure.operandBegin];
    return ensure.operandCount == 1 && index(value->rank) < ranks() ? value : nullptr;
  }
  bool covers(uint32_t rank, const Slice &slice, uint32_t part, uint32_t parts) const {
    const Buffer &buffer = schedule_.ranks[rank].buffers[index(slice.buffer)];
    uint64_t bytes = extentBytes(buffer, sizes_[rank]);
    ByteRange range = resolve(slice, buffer, sizes_[rank]);
    return range.length * parts == bytes && range.offset == range.length * part;
  }
  /// The block of a rank, in a buffer of its own. In place, that of the root is one of all blocks.
  bool isOwn(uint32_t rank, const Slice &slice, uint32_t root) const {
    return covers(rank, slice, 0, 1) || (rank == root && isBlock(rank, slice, rank));
  }
  bool isBlock(uint32_t rank, const Slice &slice, uint32_t block) const {
    return covers(rank, slice, block, ranks());
  }

  const Schedule &schedule_;
  const std::vector<Sizes> &sizes_;
};

} // namespace

std::optional<RootedBlocks> findRootedBlocks(const Schedule &schedule,
                                             const std::vector<Sizes> &sizes) {
  if (!schedule.hasContract || schedule.numRanks() < 2)
    return {};
  Finder finder(schedule, sizes);
  std::optional<uint32_t> root = finder.gatherRoot();
  if (!root)
    root = finder.scatterRoot();
  return root ? std::optional(RootedBlocks{*root, finder.isInPlace()}) : std::nullopt;
}

} // namespace colldsl::tools
