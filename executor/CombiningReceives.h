/// Receives into temporary memory that one combine alone reads: what comes may be combined with the
/// combine's target at once, and is then not stored.
///
///   recv z; combine z into y      y = y op what comes, as it comes
///
/// Where the combine has taken over a copy of x to y, y is free until then, and has room for what
/// comes. Whether all this happens is decided anew in each run: only where the combine waits for
/// nothing but its receive, and the transport hands over what comes.
#pragma once

#include "executor/Steps.h"

#include <utility>

namespace colldsl {

class CombiningReceives {
public:
  struct Pair final : CombiningTarget {
    Pair(OpId combine, const Step &step, const Combiner &combiner, uint64_t elementBytes);
    /// Before its receive is posted.
    void begin();
    void combine(uint64_t offset, const std::byte *from, uint64_t bytes) override;

    OpId op; ///< the combine
    const Step *step;
    const Combiner *combiner;
  };

  CombiningReceives() = default;

  /// `steps` stay where they are. Looks only at plans that are not too long for it.
  CombiningReceives(const RankView &view, const Steps &steps);

  /// Of a receive; null: nothing combines what it receives, or more than that.
  Pair *of(OpId receive) { return pairOf(receive); }

  /// Whether the receive has done the work of its combine in this run; called once.
  bool takeDone(OpId combine) {
    Pair *pair = pairOf(combine);
    return pair && std::exchange(pair->combinedBytes, 0) != 0;
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  Pair *pairOf(OpId op) {
    uint32_t place = places_.empty() ? kNone : places_[index(op)];
    return place == kNone ? nullptr : &pairs_[place];
  }

  std::vector<uint32_t> places_; ///< by op, of receives and of combines; empty: there are no pairs
  std::vector<Pair> pairs_;
};

} // namespace colldsl
