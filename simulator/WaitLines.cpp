#include "simulator/WaitLines.h"

#include <algorithm>

namespace colldsl::sim {
namespace {

bool isBefore(const Waiter &waiter, uint64_t order) { return waiter.order < order; }

} // namespace

void WaitLine::popHead() {
  if (++begin_ == waiters_.size()) {
    waiters_.clear();
    begin_ = 0;
  } else if (begin_ >= 64 && begin_ * 2 > waiters_.size()) {
    waiters_.erase(waiters_.begin(), waiters_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
}

void WaitLine::insert(const Waiter &waiter) {
  auto at = waiters_.end(), first = waiters_.begin() + static_cast<ptrdiff_t>(begin_);
  if (at != first && at[-1].order > waiter.order)
    at = std::lower_bound(first, at, waiter.order, isBefore);
  waiters_.insert(at, waiter);
}

Waiter &WaitLine::find(uint64_t order) {
  return *std::lower_bound(waiters_.begin() + static_cast<ptrdiff_t>(begin_), waiters_.end(), order,
                           isBefore);
}

} // namespace colldsl::sim
