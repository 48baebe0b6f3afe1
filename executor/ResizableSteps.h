/// Steps that a plan need not build anew when it is bound to other sizes: each has the pieces that
/// it had, and only addresses and lengths change.
///
/// Example: a step sends x, another one receives z, and a third one combines z into y. These are
/// the slices x, z and y whatever n is.
#pragma once

#include "executor/Steps.h"

namespace colldsl {

class ResizableSteps {
public:
  /// Called once the steps were built, and copies fused. What these refer to, and they themselves,
  /// outlive it. The steps are built alike for all sizes to which they are resized: nothing
  /// combines, or the memory is scaled.
  ResizableSteps(const RankView &view, const Memory &memory, Steps &steps);

  /// Called once the memory is bound to other sizes: takes these over. False: the steps must be
  /// built.
  bool resize(const Combiner &combiner);

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Message {
    uint32_t op;
    std::span<const Slice> slices;
  };
  /// A copy or combine of one slice to another.
  struct Local {
    uint32_t op;
    const Slice *target, *source;
    uint32_t copy = kNone;        ///< that the combine has taken over
    const Slice *first = nullptr; ///< the source of that copy
  };

  bool add(const RankView &view, uint32_t op);
  bool findCopy(const RankView &view, Local &combine) const;
  bool resize(const Local &local);

  const Memory &memory_;
  Steps &steps_;
  bool areKnown_ = true; ///< all of them have such pieces
  std::vector<Message> messages_;
  std::vector<Local> locals_;
};

} // namespace colldsl
