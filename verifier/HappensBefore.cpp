#include "verifier/HappensBefore.h"

#include "verifier/EmptyMessages.h"

#include <algorithm>

// Reachability without a closure: search backward from the later op, breadth first,
// and never past the earliest of the ops asked for, by topological position. Three
// attempts, each only for what the one before left open: the deps themselves; paths within
// the rank (op ids only fall there); paths through messages, from the send of a receive as well,
// and to the receives of sends.

namespace colldsl::proof {

HappensBefore::HappensBefore(const EventGraph &graph, const Placement &placement,
                             std::span<const Event> order)
    : graph_(graph), placement_(placement), order_(order) {}

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
  std::erase_if(earlier, [&](Vertex v) {
    bool isReceived =
        graph_.sends(v) && exists(graph_.partnerOf(v)) && isMarked(finishOf(graph_.partnerOf(v)));
    return isReceived || isMarked(finishOf(v));
  });
}

/// Takes the wanted op that is done at `e`; kNoVertex if none is.
Vertex HappensBefore::takeWanted(Event e) {
  if (isStart(e))
    return kNoVertex;
  for (Vertex v :
       {vertexOf(e), graph_.sends(vertexOf(e)) ? kNoVertex : graph_.partnerOf(vertexOf(e))})
    if (exists(v) && wanted_[index(v)] == question_) {
      wanted_[index(v)] = 0;
      return v;
    }
  return kNoVertex;
}

void HappensBefore::removeDirect(Vertex later, std::vector<Vertex> &earlier) {
  ++question_;
  graph_.forEachPredecessor(startOf(later), [&](Event e) { mark(e); });
  removeMarked(earlier);
}

/// walk(event, visit) calls visit for the predecessors worth a visit.
template <typename Walk>
void HappensBefore::search(std::initializer_list<Event> from, std::vector<Vertex> &earlier,
                           Walk walk) {
  ++question_;
  size_t open = earlier.size();
  for (Vertex v : earlier)
    wanted_[index(v)] = question_;
  queue_ = from;
  for (size_t at = 0; at < queue_.size() && open > 0; ++at)
    walk(queue_[at], [&](Event e) {
      if (!mark(e))
        return;
      queue_.push_back(e);
      open -= exists(takeWanted(e));
    });
  removeMarked(earlier);
}

void HappensBefore::removeLocal(Vertex later, std::vector<Vertex> &earlier) {
  Vertex oldest = *std::min_element(earlier.begin(), earlier.end());
  search({startOf(later)}, earlier, [&](Event e, auto visit) {
    graph_.forEachLocalPredecessor(e, [&](Event p) {
      if (vertexOf(p) >= oldest)
        visit(p);
    });
  });
}

void HappensBefore::removeAnywhere(Vertex later, std::vector<Vertex> &earlier, LengthId nonEmpty) {
  uint32_t first = UINT32_MAX;
  for (Vertex v : earlier) {
    first = std::min(first, position_[index(finishOf(v))]);
    if (graph_.sends(v) && exists(graph_.partnerOf(v)))
      first = std::min(first, position_[index(finishOf(graph_.partnerOf(v)))]);
  }
  Event came = startOf(graph_.writesWhatCame(later) ? graph_.partnerOf(later) : later);
  search({startOf(later), came}, earlier, [&](Event e, auto visit) {
    graph_.forEachPredecessor(e, [&](Event p) {
      bool isMessage = !isStart(e) && vertexOf(p) != vertexOf(e);
      if (position_[index(p)] >= first &&
          (!isMessage || travels(graph_.model(), placement_, vertexOf(p), nonEmpty)))
        visit(p);
    });
  });
}

void HappensBefore::removeOrdered(Vertex later, std::vector<Vertex> &earlier, LengthId nonEmpty) {
  if (position_.empty())
    prepare();
  removeDirect(later, earlier);
  if (!earlier.empty())
    removeLocal(later, earlier);
  if (!earlier.empty())
    removeAnywhere(later, earlier, nonEmpty);
}

} // namespace colldsl::proof
