#include "passes/BestTree.h"

#include <algorithm>

namespace colldsl {

BestTree::BestTree(const LogGop &model, TreeUse use, uint32_t ranks, uint64_t bytes)
    : model_(model), use_(use), bytes_(bytes), time_(ranks + 1, 0), below_(ranks + 1, 0) {
  for (uint32_t n = 2; n <= ranks; ++n) {
    below_[n] = bestSplit(n);
    time_[n] = timeWith(n, below_[n]);
  }
}

uint64_t BestTree::bytesTo(uint32_t below) const {
  return use_ == TreeUse::Broadcast ? bytes_ : bytes_ * below;
}

uint64_t BestTree::timeWith(uint32_t ranks, uint32_t below) const {
  uint64_t rest = below + 1 == ranks ? 0 : model_.nextSendNs(bytesTo(below)) + time_[ranks - below];
  return std::max(rest, model_.endToEndNs(bytesTo(below)) + time_[below]);
}

// With more ranks below the first receiver, the receiver's part ends later and, in a broadcast, the
// root's part earlier: the best split is where both meet. In a scatter a larger message keeps the
// root longer, so all splits are tried; for many ranks, those around the best one of one rank less.
uint32_t BestTree::bestSplit(uint32_t n) const {
  uint32_t lo = 1, hi = n - 1;
  if (use_ == TreeUse::Broadcast) {
    while (lo < hi) {
      uint32_t middle = (lo + hi) / 2;
      bool receiverIsLast = model_.endToEndNs(bytes_) + time_[middle] >=
                            model_.nextSendNs(bytes_) + time_[n - middle];
      (receiverIsLast ? hi : lo) = receiverIsLast ? middle : middle + 1;
    }
    return lo > 1 && timeWith(n, lo - 1) <= timeWith(n, lo) ? lo - 1 : lo;
  }
  constexpr uint32_t kTried = 2048;
  if (n > kTried) {
    lo = below_[n - 1] > kTried ? below_[n - 1] - kTried : 1;
    hi = std::min(hi, below_[n - 1] + kTried);
  }
  uint32_t best = lo;
  for (uint32_t below = lo; below <= hi; ++below)
    if (timeWith(n, below) < timeWith(n, best))
      best = below;
  return best;
}

std::vector<BestTree::Edge> BestTree::edges() const {
  struct Part {
    uint32_t root, size;
    uint64_t startNs;
  };
  std::vector<Edge> edges;
  std::vector<Part> open{{0, static_cast<uint32_t>(time_.size() - 1), 0}};
  while (!open.empty()) {
    Part part = open.back();
    open.pop_back();
    if (part.size < 2)
      continue;
    uint32_t below = below_[part.size], child = part.root + part.size - below;
    edges.push_back({part.root, child, below, part.startNs});
    open.push_back({child, below, part.startNs + model_.endToEndNs(bytesTo(below))});
    open.push_back(
        {part.root, part.size - below, part.startNs + model_.nextSendNs(bytesTo(below))});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge &a, const Edge &b) { return a.startNs < b.startNs; });
  return edges;
}

} // namespace colldsl
