#include "verifier/Checks.h"

#include "verifier/Cycle.h"

#include <algorithm>
#include <tuple>

namespace colldsl::proof {
namespace {

/// A cycle as steps of the form "this waits for that", beginning on the lowest rank.
class CycleDiagnostic {
public:
  CycleDiagnostic(const EventGraph &graph, Rules rules, const DiagnosticNames &names,
                  const Failures &failures)
      : graph_(graph), rules_(rules), names_(names), failures_(failures) {}

  Failure describe(std::vector<Event> cycle, uint32_t channelSlots) {
    std::reverse(cycle.begin(), cycle.end()); // now each waits for the next
    beginOnLowestRank(cycle);
    Failure failure{Proof::Deadlock, headline(cycle, channelSlots), {}};
    for (size_t i = 0; i < cycle.size(); ++i)
      addStep(cycle[i], cycle[(i + 1) % cycle.size()], failure.steps);
    return failure;
  }

private:
  void beginOnLowestRank(std::vector<Event> &cycle) const {
    auto place = [&](Event e) { return std::tuple(vertexOf(e), isStart(e)); };
    auto lowest = std::min_element(cycle.begin(), cycle.end(),
                                   [&](Event a, Event b) { return place(a) < place(b); });
    std::rotate(cycle.begin(), lowest, cycle.end());
  }

  static size_t countDistinct(std::vector<uint32_t> values) {
    std::sort(values.begin(), values.end());
    return std::unique(values.begin(), values.end()) - values.begin();
  }

  std::string headline(const std::vector<Event> &cycle, uint32_t channelSlots) const {
    std::vector<uint32_t> ops, ranks;
    for (Event e : cycle) {
      ops.push_back(index(vertexOf(e)));
      ranks.push_back(index(graph_.model().rankOf(vertexOf(e))));
    }
    size_t numOps = countDistinct(ops);
    std::string who = counted(numOps, "op") + " on " + counted(countDistinct(ranks), "rank") +
                      (numOps == 1 ? " waits for itself" : " wait for each other");
    switch (rules_) {
    case Rules::HappensBefore:
      return who + ", however much is buffered";
    case Rules::SynchronousSends:
      return who + " if sends are synchronous, that is, finish only once the receive is posted";
    case Rules::FiniteChannels:
      return who + (channelSlots == 0 ? " over FIFO channels"
                                      : " over FIFO channels of " + counted(channelSlots, "slot"));
    case Rules::Both: // asked only whether there is a cycle
      break;
    }
    return who;
  }

  void addStep(Event waiter, Event awaited, std::vector<Failure::Step> &steps) const {
    bool sameOp = vertexOf(waiter) == vertexOf(awaited);
    if (sameOp && !isStart(waiter) && isStart(awaited))
      return; // self-evident: an op starts before it finishes
    std::string text =
        names_.op(vertexOf(waiter)) + " cannot " + (isStart(waiter) ? "start" : "finish") +
        " before " + names_.opOfRank(vertexOf(awaited)) +
        (isStart(awaited) ? " starts" : " finishes") + ": " + reason(waiter, awaited);
    steps.push_back(failures_.step(vertexOf(waiter), std::move(text)));
  }

  const char *reason(Event waiter, Event awaited) const {
    Vertex v = vertexOf(waiter), w = vertexOf(awaited);
    if (!isStart(waiter) && isStart(awaited) && graph_.partnerOf(v) == w)
      return graph_.sends(v) ? "a synchronous send waits for its receive"
                             : "its message comes from there";
    if (isStart(waiter) && hasDep(v, awaited))
      return isStart(awaited) ? "it requires that start" : "it requires that op";
    if (graph_.sends(v) && graph_.sends(w))
      return "it comes later in their channel";
    return graph_.sends(v) ? "it needs the slot of that message"
                           : "its message lies behind that one in their channel";
  }

  bool hasDep(Vertex v, Event awaited) const {
    bool found = false;
    graph_.forEachPredecessor(startOf(v), [&](Event e) { found |= e == awaited; });
    return found;
  }

  const EventGraph &graph_;
  Rules rules_;
  const DiagnosticNames &names_;
  const Failures &failures_;
};

} // namespace

PagedArray<Event> checkDeadlock(const EventGraph &graph, uint32_t channelSlots,
                                const DiagnosticNames &names, Failures &failures) {
  PagedArray<Event> happensBefore;
  for (Rules rules : {Rules::HappensBefore, Rules::SynchronousSends, Rules::FiniteChannels}) {
    PagedArray<Event> order = topologicalOrder(graph, rules);
    if (order.size() < graph.numEvents()) {
      CycleDiagnostic diagnostic(graph, rules, names, failures);
      failures.add(diagnostic.describe(shortestCycle(graph, rules, order), channelSlots));
      break;
    }
    if (rules != Rules::HappensBefore)
      continue;
    happensBefore = std::move(order);
    if (topologicalOrder(graph, Rules::Both).size() == graph.numEvents())
      break;
  }
  return happensBefore;
}

} // namespace colldsl::proof
