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

/// Sends come as early as possible, first those to peers with which the endpoint starts first, then
/// local work, then receives as late as possible. Empty: the plan is too long, has steps that
/// change from run to run, or messages that are not eager, which take too long.
std::vector<uint32_t> straightLine(const RankView &view, const Steps &steps,
                                   const Endpoint &endpoint);

} // namespace colldsl
