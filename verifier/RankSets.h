/// Sets of ranks, such as all that a rank knows of; many of them are alike in part.
///
/// A set is stored as an interval of ranks, if it is one (rank 0 follows the last one), else as a
/// binary tree with words of 64 ranks as leaves. Equal trees, of whatever sets, are one and have a
/// number. Trees with none, or all, of the ranks below them have a fixed number at every level
/// (kNone, kAll), so that a union ends where one side has nothing or all.
/// Example: of 256 ranks {10, 11, ..., 200} is the interval 10 + 191. {0, 1, 128, 129} is the tree
/// (A, A), where A is the tree (word 0b11, none).
#pragma once

#include "ir/EpochTable.h"
#include "ir/Ids.h"
#include "ir/Index32.h"

#include <algorithm>
#include <vector>

namespace colldsl::proof {

class RankSets {
public:
  /// Ranks [first, first + count) modulo their number; or, if count is kIsTree, the tree `first`.
  struct Set {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  explicit RankSets(uint32_t numRanks) : numRanks_(numRanks) {
    while (uint64_t{kBits} << height_ < numRanks)
      ++height_;
    parts_ = {0, ~uint64_t{0}};
  }

  static constexpr Set none() { return {}; }
  static constexpr Set of(Rank rank) { return {index(rank), 1}; }
  bool isAll(Set set) const { return set.count == numRanks_; }

  Set unite(Set a, Set b) {
    if (b.count == 0 || isAll(a))
      return a;
    if (a.count == 0 || isAll(b))
      return b;
    if (a.count != kIsTree && b.count != kIsTree) {
      if (reaches(a, b))
        return extend(a, b);
      if (reaches(b, a))
        return extend(b, a);
    }
    Tree both = unite(treeOf(a), treeOf(b), height_);
    return both == kAll ? Set{0, numRanks_} : Set{static_cast<uint32_t>(both), kIsTree};
  }

  /// Trees that were looked at so far.
  uint64_t steps() const { return steps_; }

private:
  static constexpr uint32_t kBits = 64;
  static constexpr uint32_t kIsTree = UINT32_MAX; ///< more than there can be ranks

  enum class Tree : uint32_t {};
  static constexpr Tree kNone{0}, kAll{1};

  uint32_t distance(uint32_t from, uint32_t to) const {
    return to >= from ? to - from : to + (numRanks_ - from);
  }
  /// True if b begins within a, or directly behind it.
  bool reaches(Set a, Set b) const { return distance(a.first, b.first) <= a.count; }
  Set extend(Set a, Set b) const {
    uint64_t count = uint64_t{distance(a.first, b.first)} + b.count;
    return {a.first, static_cast<uint32_t>(std::clamp<uint64_t>(count, a.count, numRanks_))};
  }

  static constexpr uint64_t join(Tree left, Tree right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }
  static constexpr Tree left(uint64_t parts) { return Tree{static_cast<uint32_t>(parts >> 32)}; }
  static constexpr Tree right(uint64_t parts) { return Tree{static_cast<uint32_t>(parts)}; }
  uint64_t partsOf(Tree tree) const { return parts_[static_cast<uint32_t>(tree)]; }

  /// The number of a tree. `parts` is a word of ranks or two halves, as the level says at which the
  /// tree is used.
  Tree intern(uint64_t parts) {
    auto [id, isNew] = ids_.insert(parts);
    if (isNew) {
      *id = index32(parts_.size());
      parts_.push_back(parts);
    }
    return Tree{*id};
  }
  Tree leaf(uint64_t word) { return word == 0 ? kNone : ~word == 0 ? kAll : intern(word); }
  Tree inner(Tree left, Tree right) {
    return left == right && (left == kNone || left == kAll) ? left : intern(join(left, right));
  }

  Tree treeOf(Set set) {
    if (set.count == kIsTree)
      return Tree{set.first};
    uint64_t end = uint64_t{set.first} + set.count;
    Tree tree = treeOf(set.first, end, 0, height_);
    return end <= numRanks_ ? tree : unite(tree, treeOf(0, end - numRanks_, 0, height_), height_);
  }

  /// The tree of the ranks [first, last) that lie below one with first rank `base`. Numbers beyond
  /// the last rank belong to every set, so that the set of all ranks is kAll.
  Tree treeOf(uint64_t first, uint64_t last, uint64_t base, unsigned level) {
    uint64_t end = base + (uint64_t{kBits} << level);
    if (base >= numRanks_ || (first <= base && std::min<uint64_t>(end, numRanks_) <= last))
      return kAll;
    if ((last <= base || end <= first) && end <= numRanks_)
      return kNone;
    ++steps_;
    if (level > 0)
      return inner(treeOf(first, last, base, level - 1),
                   treeOf(first, last, base + (end - base) / 2, level - 1));
    uint64_t word = 0;
    for (uint64_t rank = base; rank < end; ++rank)
      if ((rank >= first && rank < last) || rank >= numRanks_)
        word |= uint64_t{1} << (rank - base);
    return leaf(word);
  }

  Tree unite(Tree a, Tree b, unsigned level) {
    if (a == b || b == kNone || a == kAll)
      return a;
    if (a == kNone || b == kAll)
      return b;
    ++steps_;
    uint64_t ofA = partsOf(a), ofB = partsOf(b);
    uint64_t both = level == 0 ? ofA | ofB
                               : join(unite(left(ofA), left(ofB), level - 1),
                                      unite(right(ofA), right(ofB), level - 1));
    if (both == ofA || both == ofB)
      return both == ofA ? a : b;
    return level == 0 ? leaf(both) : inner(left(both), right(both));
  }

  uint32_t numRanks_;
  unsigned height_ = 0; ///< levels of trees above the words
  std::vector<uint64_t> parts_;
  EpochTable<uint32_t> ids_;
  uint64_t steps_ = 0;
};

} // namespace colldsl::proof
