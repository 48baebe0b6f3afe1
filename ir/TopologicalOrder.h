/// Orders of ops that wait for each other, before they are a Dag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace colldsl {

/// A topological order, smallest op first (Kahn 1962, with a heap). Ops in cycles, and those behind
/// them, have no place in it. `open`: per op, how many others it waits for. forEachSuccessor(op,
/// visit) calls visit(uint32_t) for the ops that wait for this one.
template <typename ForEachSuccessor>
std::vector<uint32_t> topologicalOrder(std::vector<uint32_t> open,
                                       ForEachSuccessor forEachSuccessor) {
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < open.size(); ++i)
    if (open[i] == 0)
      ready.push(i);
  std::vector<uint32_t> order;
  order.reserve(open.size());
  while (!ready.empty()) {
    uint32_t op = ready.top();
    ready.pop();
    order.push_back(op);
    forEachSuccessor(op, [&](uint32_t successor) {
      if (--open[successor] == 0)
        ready.push(successor);
    });
  }
  return order;
}

/// By op: true for those in the order.
inline std::vector<bool> placesIn(const std::vector<uint32_t> &order, uint32_t ops) {
  std::vector<bool> isOrdered(ops);
  for (uint32_t op : order)
    isOrdered[op] = true;
  return isOrdered;
}

/// An op of a cycle. Every op without a place in the order waits for another such op,
/// blockerOf(op): following one from each leads into a cycle.
template <typename BlockerOf>
uint32_t opOfCycle(const std::vector<bool> &isOrdered, BlockerOf blockerOf) {
  std::vector<bool> isSeen(isOrdered.size());
  auto op = static_cast<uint32_t>(std::find(isOrdered.begin(), isOrdered.end(), false) -
                                  isOrdered.begin());
  for (; !isSeen[op]; op = blockerOf(op))
    isSeen[op] = true;
  return op;
}

} // namespace colldsl
