/// An order in which a short plan may be run through without asking what is ready: each op can
/// start once those before it have finished.
///
/// It pays where every message is here at once or a moment later. The plan leaves it at the first
/// op that has to wait for longer, and goes on with the wavefront.
#pragma once

#include "executor/Steps.h"

namespace colldsl {

/// Ops of a plan that has such an order, at most.
inline constexpr size_t kLongestLine = 64;

/// Sends as early as they can be, those to peers with which the endpoint starts first in front,
/// then local work, receives as late. Empty: the plan is too long, has steps that change from run
/// to run, or messages that are not eager, which take too long.
std::vector<uint32_t> straightLine(const RankView &view, const Steps &steps,
                                   const Endpoint &endpoint);

} // namespace colldsl
