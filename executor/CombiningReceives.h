/// Receives into temporary memory that only one combine reads: arriving bytes may be combined with
/// the combine's target at once, and are then not stored.
///
///   recv z; combine z into y      y = y op what comes, as it comes
///
/// If the combine has taken over a copy of x to y, y is free until then, and has room for the
/// arriving bytes. Each run decides anew: the combine must wait for nothing but its receive, and
/// the transport must hand over the bytes as they arrive.
#pragma once

#include "executor/Steps.h"

#include <utility>

namespace colldsl {

class CombiningReceives {
public:
  struct Pair final : CombiningTarget {
    Pair(OpId combine, const Step &step, const Combiner &combiner, uint64_t elementBytes);
    /// Called before its receive is posted. The memory of a plan may move between runs.
    void begin() {
      combinedBytes = 0;
      room = step->pieces[0].first ? step->pieces[0].target : nullptr;
    }
    void combine(uint64_t offset, const std::byte *from, uint64_t bytes) override;

    OpId op; ///< the combine
    const Step *step;
    const Combiner *combiner;
  };

  /// Ignores plans that are too long for it. `view` is of data that outlives it.
  explicit CombiningReceives(const RankView &view);

  /// Called whenever the steps, which are of that view, were bound and stay where they are.
  void bind(const Steps &steps);

  /// The pair of a receive; null: no combine reads all that it receives, and nothing else.
  Pair *of(OpId receive) { return pairOf(receive); }

  /// True if the receive has done the work of its combine in this run; called once.
  bool takeDone(OpId combine) {
    Pair *pair = pairOf(combine);
    return pair && std::exchange(pair->combinedBytes, 0) != 0;
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  OpId combineOf(const Steps &steps, uint32_t receive) const;
  Pair *pairOf(OpId op) {
    uint32_t place = places_.empty() ? kNone : places_[index(op)];
    return place == kNone ? nullptr : &pairs_[place];
  }

  RankView view_;
  std::vector<uint32_t> receives_; ///< into memory that only one other op touches
  std::vector<uint32_t> places_; ///< by op, of receives and of combines; empty: there are no pairs
  std::vector<Pair> pairs_;
};

} // namespace colldsl
