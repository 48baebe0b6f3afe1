#include "executor/Engine.h"
#include "executor/Plan.h"

#include <algorithm>

namespace colldsl {

void Engine::add(Plan &plan) {
  std::lock_guard lock(mutex_);
  plans_.push_back(&plan);
}

void Engine::remove(Plan &plan) {
  std::lock_guard lock(mutex_);
  std::erase(plans_, &plan);
}

bool Engine::progressOthers(const Plan *except) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock)
    return false; // another thread does it already
  bool moved = false;
  for (Plan *plan : plans_)
    if (plan != except)
      moved |= plan->progress();
  return moved;
}

} // namespace colldsl
