/// Copies that only fill the target of a combine: the combine reads their sources instead.
///
///   copy x to y; recv z; combine z into y      y = x op z
#pragma once

#include "executor/Steps.h"

namespace colldsl {

/// The copies of a plan that combines may take over. Which of them they do depends on the sizes.
class FusedCopies {
public:
  /// A plan that is too long has none. `view` is of data that outlives it.
  explicit FusedCopies(const RankView &view);

  /// Called whenever the memory and its steps were bound.
  void fuse(const Memory &memory, Steps &steps);

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Range {
    const std::byte *begin, *end;
    bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
    bool contains(const Range &other) const { return begin <= other.begin && other.end <= end; }
  };
  /// A copy and a combine that requires it.
  struct Pair {
    uint32_t copy, combine;
    bool isOrdered = false;          ///< `between` is known
    std::vector<uint32_t> between{}; ///< ops that no dependencies order before or behind both
  };

  static Range targetOf(const LocalPiece &piece) {
    return {piece.target, piece.target + piece.bytes};
  }
  std::span<const uint32_t> successors(uint32_t op) const;
  bool readsInputs(uint32_t op) const;
  void fuse(std::span<Pair> ofCopy, const Memory &memory, Steps &steps);
  bool take(Pair &pair, const Memory &memory, LocalPiece &piece);
  bool touches(const Memory &memory, std::span<const Slice> slices, const Range &range) const;
  bool isTouchedBetween(Pair &pair, const Memory &memory, const Range &range);
  void order(Pair &pair);
  template <typename Next> void eraseReached(std::vector<uint32_t> &open, uint32_t from, Next next);

  RankView view_;
  std::vector<Pair> pairs_;      ///< those of one copy stand together
  std::vector<LocalPiece> left_; ///< of the copy at hand
  // Made for the first pair whose order is needed.
  std::vector<std::vector<uint32_t>> predecessors_; ///< per op: those that it requires
  std::vector<uint32_t> seen_;                      ///< per op: the last walk that reached it
  uint32_t walk_ = 0;
};

} // namespace colldsl
