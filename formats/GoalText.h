/// GOAL as text. Reading it is part of the text form, a superset of GOAL: parseText().
#pragma once

#include "ir/Schedule.h"

#include <string>
#include <string_view>

namespace colldsl {

struct GoalOptions {
  /// copy and combine become a calc of as many nanoseconds as they move bytes, instead
  /// of an error.
  bool localOpsAsCalc = false;
  std::string_view target = "GOAL"; ///< in errors: what cannot say something
};

/// Plain GOAL at n == sizeClass.elements, as other tools read it: every op labelled,
/// every tag written out, no message without bytes. What GOAL does not have (copy, combine,
/// a size known at call time only) is an error that names the op. A signal becomes a
/// message of one byte; a send or receive of no bytes, which never travels, a calc 0.
/// Tags are kept if each names one message of its pair of ranks; else all are numbered
/// afresh.
Result<std::string> printGoal(const Schedule &schedule, GoalOptions options = {});

} // namespace colldsl
