/// Who waits for a processor or an interface of a rank. Each line holds what takes the same
/// resources, in the order of Event::order; only its head, and whoever was the head before,
/// have events in the queue, so that a thousand ready sends cost no more than one.
#pragma once

#include "simulator/PagedArray.h"
#include "simulator/TimeWheel.h"

#include <vector>

namespace colldsl::sim {

struct Waiter {
  uint64_t order;
  uint32_t vertex;
  bool isQueued; ///< has an event
};

class WaitLine {
public:
  bool empty() const { return begin_ == waiters_.size(); }
  Waiter &head() { return waiters_[begin_]; }
  void popHead();
  void insert(const Waiter &waiter);
  /// The one with this order, which is in line.
  Waiter &at(uint64_t order) {
    return waiters_.back().order == order ? waiters_.back() : find(order);
  }

private:
  Waiter &find(uint64_t order);

  std::vector<Waiter> waiters_;
  size_t begin_ = 0;
};

/// The lines of all ranks; one that nobody ever waited in takes four bytes.
class WaitLines {
public:
  explicit WaitLines(size_t count) : index_(count) {}

  /// Null: nobody ever waited there.
  WaitLine *find(size_t line) { return index_[line] == 0 ? nullptr : &lines_[index_[line] - 1]; }
  WaitLine &get(size_t line) {
    if (index_[line] == 0) {
      lines_.emplace_back();
      index_[line] = static_cast<uint32_t>(lines_.size());
    }
    return lines_[index_[line] - 1];
  }

private:
  PagedArray<uint32_t> index_;
  std::vector<WaitLine> lines_;
};

} // namespace colldsl::sim
