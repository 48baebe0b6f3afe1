#include "verifier/HappensBefore.h"

#include <algorithm>

// Reachability without a closure: search backward from the later op, breadth first,
// and never past the earliest of the ops asked for, by topological position. Three
// attempts, each only for what the one before left open: the deps themselves; paths within
// the rank (op ids only fall there); paths through messages.

namespace colldsl::proof {

HappensBefore::HappensBefore(const EventGraph &graph, std::span<const Event> order)
    : graph_(graph), order_(order) {}

void HappensBefore::prepare() {
  position_.resize(graph_.numEvents());
  for (uint32_t i = 0; i < order_.size(); ++i)
    position_[index(order_[i])] = i;
  marks_.assign(graph_.numEvents(), 0);
  wanted_.assign(graph_.model().numVertices(), 0);
}

bool HappensBefore::mark(Event e) {
  if (marks_[index(e)] == question_)
    return false;
  marks_[index(e)] = question_;
  return true;
}

void HappensBefore::removeMarked(std::vector<Vertex> &earlier) {
  std::erase_if(earlier, [&](Vertex v) { return marks_[index(finishOf(v))] == question_; });
}

void HappensBefore::removeDirect(Vertex later, std::vector<Vertex> &earlier) {
  ++question_;
  graph_.forEachPredecessor(startOf(later), [&](Event e) { mark(e); });
  removeMarked(earlier);
}

/// walk(event, visit) calls visit for the predecessors worth a visit.
template <typename Walk>
void HappensBefore::search(Vertex later, std::vector<Vertex> &earlier, Walk walk) {
  ++question_;
  size_t open = earlier.size();
  for (Vertex v : earlier)
    wanted_[index(v)] = question_;
  queue_.assign(1, startOf(later));
  for (size_t at = 0; at < queue_.size() && open > 0; ++at)
    walk(queue_[at], [&](Event e) {
      if (!mark(e))
        return;
      queue_.push_back(e);
      open -= !isStart(e) && wanted_[index(vertexOf(e))] == question_;
    });
  removeMarked(earlier);
}

void HappensBefore::removeLocal(Vertex later, std::vector<Vertex> &earlier) {
  Vertex oldest = *std::min_element(earlier.begin(), earlier.end());
  search(later, earlier, [&](Event e, auto visit) {
    graph_.forEachLocalPredecessor(e, [&](Event p) {
      if (vertexOf(p) >= oldest)
        visit(p);
    });
  });
}

void HappensBefore::removeAnywhere(Vertex later, std::vector<Vertex> &earlier) {
  uint32_t first = position_[index(startOf(later))];
  for (Vertex v : earlier)
    first = std::min(first, position_[index(finishOf(v))]);
  search(later, earlier, [&](Event e, auto visit) {
    graph_.forEachPredecessor(e, [&](Event p) {
      if (position_[index(p)] >= first)
        visit(p);
    });
  });
}

void HappensBefore::removeOrdered(Vertex later, std::vector<Vertex> &earlier) {
  if (position_.empty())
    prepare();
  removeDirect(later, earlier);
  if (!earlier.empty())
    removeLocal(later, earlier);
  if (!earlier.empty())
    removeAnywhere(later, earlier);
}

} // namespace colldsl::proof
