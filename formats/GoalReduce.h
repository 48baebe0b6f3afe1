/// A schedule reduced to what GOAL has: sends, receives and calcs with sizes, and
/// their dependencies. Both ways to write GOAL, as text and as a binary, begin here.
#pragma once

#include "formats/GoalText.h"

namespace colldsl {

/// The schedule at n == sizeClass.elements, as plain GOAL: no slices, no buffers, no
/// contract; Op::amount is the size of each message in bytes; ops keep their numbers and
/// places, and each one's dependencies ascend. What becomes of which op, and what is an
/// error, see printGoal(). No message has a count: tags alone distinguish the messages
/// of a pair of ranks apart.
Result<Schedule> toGoal(const Schedule &schedule, GoalOptions options = {});

} // namespace colldsl
