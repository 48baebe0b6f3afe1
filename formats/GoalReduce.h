/// A schedule reduced to GOAL: sends, receives and calcs with sizes, and their dependencies. Both
/// ways to write GOAL, as text and as a binary, begin here.
#pragma once

#include "formats/GoalText.h"

namespace colldsl {

/// The schedule at n == sizeClass.elements, as plain GOAL: no slices, no buffers, no contract.
/// Op::amount is the size of each message in bytes. Ops keep their numbers and places, and the
/// dependencies of each ascend. printGoal() says how each op is translated, and which are errors.
/// No message has a count: tags alone distinguish the messages of a pair of ranks.
Result<Schedule> toGoal(const Schedule &schedule, GoalOptions options = {});

} // namespace colldsl
