/// Lengths of blocks that are known at call time only (T[k][*], T[k][<= m]): finds those that are
/// equal in every call that the contract allows.
#pragma once

#include "ir/Bounds.h"
#include "ir/Schedule.h"

namespace colldsl::proof {

/// A length that the call chooses. Blocks that the contract equates have one.
enum class LengthId : uint32_t {};
constexpr uint32_t index(LengthId id) { return static_cast<uint32_t>(id); }
/// A length that the call does not choose: of elements of a Dense buffer, or of a block whose
/// length the contract equates with such a length.
inline constexpr LengthId kFixedLength{0xffffffffu};

class BlockLengths {
public:
  /// At n == elements. An error: the contract equates lengths that cannot be equal.
  static Result<BlockLengths> of(const Schedule &schedule, uint64_t elements);

  /// The number of lengths that the call chooses. They are numbered in the order of the first
  /// blocks that have them.
  uint32_t count() const { return static_cast<uint32_t>(most_.size()); }
  /// The capacity in elements of each block of this length; UINT64_MAX: the call says where the
  /// block lies.
  uint64_t most(LengthId id) const { return most_[index(id)]; }
  /// A nonzero length for each: the capacity, or a few elements.
  std::vector<uint64_t> nonEmpty() const;
  LengthId idOf(Rank rank, const Slice &slice) const;

  /// The sizes of each rank with these lengths, by LengthId. Blocks [*] lie in their order, apart
  /// from each other.
  std::vector<Sizes> sizes(std::span<const uint64_t> lengths) const;

private:
  friend class LengthUnions;
  struct Block {
    LengthId id = kFixedLength;
    uint64_t fixed = 0;
  };

  explicit BlockLengths(const Schedule &schedule, uint64_t elements)
      : schedule_(&schedule), elements_(elements) {}
  BlockTable table(uint32_t rank, uint32_t buffer, std::span<const uint64_t> lengths) const;

  const Schedule *schedule_; ///< outlives this
  uint64_t elements_;
  std::vector<std::vector<uint32_t>> firsts_; ///< per rank and buffer: its first block
  std::vector<Block> blocks_;
  std::vector<uint64_t> most_;
};

} // namespace colldsl::proof
