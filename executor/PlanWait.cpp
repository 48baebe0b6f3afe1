#include "executor/Plan.h"
#include "transports/Yielding.h"

#include <algorithm>

namespace colldsl {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point deadlineAfter(std::chrono::nanoseconds timeout) {
  Clock::time_point now = Clock::now();
  return timeout < Clock::time_point::max() - now ? now + timeout : Clock::time_point::max();
}

} // namespace

// Spins, because the answer mostly comes soon; then yields the core, perhaps to the rank that is
// about to answer; then sleeps until there is an event.
bool Plan::waitFor(std::chrono::nanoseconds timeout) {
  Endpoint &endpoint = engine_.endpoint();
  const SpinBudget spinBudget = endpoint.caps().spinBudget;
  if (!running())
    return test();
  progressFor(spinBudget.polls);
  if (!running())
    return true;
  Clock::time_point deadline = deadlineAfter(timeout);
  Yielding yielding(spinBudget.yielding);
  while (running()) {
    bool moved = progressFor(spinBudget.polls);
    moved |= engine_.progressOthers(this);
    if (!running())
      break;
    if (moved) {
      yielding.restart();
    } else if (Clock::now() >= deadline) {
      progressFor(spinBudget.polls); // another plan that failed may have taken the time
      return !running();
    } else if (engine_.calculates() || yielding.isWorthIt()) {
      yielding.yield();
    } else {
      sleep(deadline - Clock::now());
    }
  }
  return true;
}

Status Plan::wait(std::chrono::nanoseconds timeout, std::chrono::nanoseconds waited) {
  if (!waitFor(timeout)) {
    lock_.lock();
    if (running())
      timeOut(waited + timeout);
    lock_.unlock();
  }
  return status();
}

// A message that arrives after armSleep() ends the sleep, so one more look must come between.
// The end of a calc is no such event.
void Plan::sleep(std::chrono::nanoseconds atMost) {
  Endpoint &endpoint = engine_.endpoint();
  WakeupEpoch epoch = endpoint.armSleep();
  bool moved = progressFor(1);
  moved |= engine_.progressOthers(this);
  if (!moved && running() && !engine_.calculates())
    endpoint.sleep(epoch, std::min(atMost, endpoint.caps().spinBudget.longestSleep));
  if (moved || progressFor(1) || !lock_.tryLock())
    return;
  if (running()) // the event, if any, was not a message
    check();
  lock_.unlock();
}

} // namespace colldsl
