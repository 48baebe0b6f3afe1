/// Receives the events of a plan with their times. Costs nothing when off.
#pragma once

#include "ir/Ids.h"

namespace colldsl {

/// Called by the thread that progresses the plan, one at a time, while the plan is locked: an
/// observer must not call the plan, and its work delays the run.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void runStarted() = 0;
  virtual void opStarted(OpId op) = 0;
  virtual void opFinished(OpId op) = 0;
  virtual void runFinished() = 0;
};

} // namespace colldsl
