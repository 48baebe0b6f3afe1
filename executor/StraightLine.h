/// An order in which a short plan may run without a check for ready ops: each op can start once
/// those before it have finished.
///
/// It pays if every message is here at once or a moment later. The plan leaves it at the first op
/// that has to wait for longer, and continues with the wavefront.
#pragma once

#include "executor/Steps.h"

namespace colldsl {

/// The most ops of a plan that has such an order.
inline constexpr size_t kLongestLine = 64;

class StraightLine {
public:
  /// Sends come as early as possible, first those to peers with which the endpoint starts first,
  /// then local work, then receives as late as possible. Steps know their kinds.
  StraightLine(const RankView &view, const Steps &steps, const Endpoint &endpoint);

  /// True unless the plan is too long, has steps that change from run to run, or messages that
  /// are longer than the endpoint buffers, as the steps are bound now: these take too long.
  bool mayRun(const Steps &steps) const;

  const std::vector<uint32_t> &ops() const { return ops_; }
  /// Position behind its last send.
  size_t endOfSends() const { return endOfSends_; }

private:
  std::vector<uint32_t> ops_;       ///< empty: there is no line
  std::vector<uint64_t> mostBytes_; ///< parallel to ops_
  size_t endOfSends_ = 0;
};

} // namespace colldsl
