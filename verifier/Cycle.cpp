#include "verifier/Cycle.h"

#include <algorithm>

// Shortest cycle: what the topological order could not take is trimmed from both
// ends, so that only events on cycles, and between them, are left. A walk finds some
// cycle; then a breadth-first search from each event looks for a shorter way back to it,
// never going deeper than the best cycle so far. The steps of all searches together are
// bounded.
// Example: a -> b -> c -> a and c -> d -> e -> f -> c: the search from a finds 3 steps, those
// from d, e, f stop at depth 3.

namespace colldsl::proof {
namespace {

constexpr uint64_t kMaxSteps = 50'000'000;
constexpr uint32_t kNone = 0xffffffffu;

class CycleSearch {
public:
  CycleSearch(const EventGraph &graph, Rules rules, std::span<const Event> order)
      : graph_(graph), rules_(rules), inside_(graph.numEvents(), true),
        depth_(graph.numEvents(), kNone), before_(graph.numEvents()) {
    for (Event e : order)
      inside_[index(e)] = false;
    trimEnds();
  }

  std::vector<Event> run() {
    keepAnyCycle();
    for (uint32_t e = 0; e < graph_.numEvents() && steps_ < kMaxSteps; ++e)
      if (inside_[e])
        searchFrom(Event{e});
    return std::move(best_);
  }

private:
  template <typename Visit> void forEachInside(Event e, Visit visit) const {
    graph_.forEachSuccessor(e, rules_, [&](Event later) {
      if (inside_[index(later)])
        visit(later);
    });
  }

  /// Removes, again and again, events for which no event inside waits.
  void trimEnds() {
    std::vector<std::vector<Event>> earlier(graph_.numEvents());
    std::vector<uint32_t> waiting(graph_.numEvents(), 0);
    std::vector<Event> ends;
    for (uint32_t e = 0; e < graph_.numEvents(); ++e) {
      if (!inside_[e])
        continue;
      forEachInside(Event{e}, [&](Event later) {
        earlier[index(later)].push_back(Event{e});
        ++waiting[e];
      });
      if (waiting[e] == 0)
        ends.push_back(Event{e});
    }
    while (!ends.empty()) {
      Event end = ends.back();
      ends.pop_back();
      inside_[index(end)] = false;
      for (Event e : earlier[index(end)])
        if (--waiting[index(e)] == 0)
          ends.push_back(e);
    }
  }

  /// Follows successors. Every event inside has one inside, so the walk comes back to an event that
  /// it has seen.
  void keepAnyCycle() {
    std::vector<uint32_t> seenAt(graph_.numEvents(), kNone);
    uint32_t first =
        static_cast<uint32_t>(std::find(inside_.begin(), inside_.end(), true) - inside_.begin());
    std::vector<Event> walk;
    for (Event e{first}; seenAt[index(e)] == kNone;) {
      seenAt[index(e)] = static_cast<uint32_t>(walk.size());
      walk.push_back(e);
      forEachInside(e, [&](Event later) { e = later; });
      if (uint32_t back = seenAt[index(e)]; back != kNone)
        best_.assign(walk.begin() + back, walk.end());
    }
  }

  void searchFrom(Event start) {
    std::vector<Event> queue{start};
    depth_[index(start)] = 0;
    bool found = false;
    for (size_t at = 0; at < queue.size() && !found; ++at) {
      Event e = queue[at];
      if (depth_[index(e)] + 1 >= best_.size())
        break;
      forEachInside(e, [&](Event later) {
        ++steps_;
        if (later == start && !found) {
          found = true;
          keepPath(e);
        } else if (depth_[index(later)] == kNone) {
          depth_[index(later)] = depth_[index(e)] + 1;
          before_[index(later)] = e;
          queue.push_back(later);
        }
      });
    }
    for (Event e : queue)
      depth_[index(e)] = kNone;
  }

  void keepPath(Event last) {
    best_.clear();
    Event e = last;
    for (; depth_[index(e)] != 0; e = before_[index(e)])
      best_.push_back(e);
    best_.push_back(e);
    std::reverse(best_.begin(), best_.end());
  }

  const EventGraph &graph_;
  Rules rules_;
  std::vector<bool> inside_;
  std::vector<uint32_t> depth_; // of the search at hand
  std::vector<Event> before_;   // on the path of the search at hand
  std::vector<Event> best_;
  uint64_t steps_ = 0;
};

} // namespace

std::vector<Event> shortestCycle(const EventGraph &graph, Rules rules,
                                 std::span<const Event> order) {
  return CycleSearch(graph, rules, order).run();
}

} // namespace colldsl::proof
