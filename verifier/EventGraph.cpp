#include "verifier/EventGraph.h"

#include <algorithm>
#include <utility>

namespace colldsl::proof {

EventGraph::EventGraph(const Model &model, const Messages &messages, uint32_t channelSlots)
    : model_(model), traits_(model.numVertices()), links_(size_t{model.numVertices()} + 1) {
  uint32_t v = 0;
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    for (const Op &op : model.dag(Rank{r}).ops) {
      traits_[v] = sendsMessage(op.kind) ? kSends : 0;
      links_[v] = {0, messages.partnerOf(Vertex{v}), kNoVertex, kNoVertex};
      ++v;
    }
  collectDependents();
  collectChannels(channelSlots);
}

void EventGraph::collectDependents() {
  std::vector<uint32_t> next; // of the rank at hand: per op, how many depend on it, and then where
  for (uint32_t r = 0; r < model_.numRanks(); ++r) {
    const Dag &dag = model_.dag(Rank{r});
    next.assign(dag.size(), 0);
    uint32_t numDeps = 0;
    auto forEachDepOfRank = [&](auto visit) {
      for (uint32_t i = 0; i < dag.size(); ++i)
        for (const Dep &dep : dag.depsOf(dag.ops[i]))
          visit(next[index(dep.op)], Dependent{model_.vertex(Rank{r}, OpId{i}), dep.kind});
    };
    forEachDepOfRank([&](uint32_t &count, Dependent) { ++count, ++numDeps; });
    uint32_t first = index(model_.firstOf(Rank{r}));
    auto at = static_cast<uint32_t>(dependents_.size());
    for (uint32_t i = 0; i < dag.size(); ++i) {
      links_[first + i].dependentsBegin = at;
      at += std::exchange(next[i], at);
    }
    dependents_.grow(numDeps);
    forEachDepOfRank(
        [&](uint32_t &place, Dependent dependent) { dependents_[place++] = dependent; });
  }
  links_[model_.numVertices()].dependentsBegin = static_cast<uint32_t>(dependents_.size());
}

void EventGraph::collectChannels(uint32_t slots) {
  std::vector<Vertex> sendsOfRank;
  auto peerOf = [&](Vertex v) { return model_.op(v).peer; };
  for (uint32_t r = 0; r < model_.numRanks(); ++r) {
    sendsOfRank.clear();
    uint32_t last = index(model_.firstOf(Rank{r + 1}));
    for (uint32_t v = index(model_.firstOf(Rank{r})); v < last; ++v)
      if (exists(partnerOf(Vertex{v})) && sends(Vertex{v}))
        sendsOfRank.push_back(Vertex{v});
    std::stable_sort(sendsOfRank.begin(), sendsOfRank.end(),
                     [&](Vertex a, Vertex b) { return peerOf(a) < peerOf(b); });
    std::span<const Vertex> rest(sendsOfRank);
    while (!rest.empty()) {
      size_t size = 1;
      while (size < rest.size() && peerOf(rest[size]) == peerOf(rest[0]))
        ++size;
      linkChannel(rest.first(size), slots);
      rest = rest.subspan(size);
    }
  }
}

void EventGraph::linkChannel(std::span<const Vertex> channel, uint32_t slots) {
  for (size_t k = 0; k < channel.size(); ++k) {
    Vertex recv = partnerOf(channel[k]);
    if (k + 1 < channel.size()) {
      Vertex nextRecv = partnerOf(channel[k + 1]);
      links_[index(channel[k])].next = channel[k + 1];
      links_[index(recv)].next = nextRecv;
      traits_[index(channel[k + 1])] |= kHasPrevious;
      traits_[index(nextRecv)] |= kHasPrevious;
    }
    if (slots != 0 && k + slots < channel.size()) {
      links_[index(recv)].slotUser = channel[k + slots];
      traits_[index(channel[k + slots])] |= kNeedsSlot;
    }
  }
}

PagedArray<Event> topologicalOrder(const EventGraph &graph, Rules rules) {
  PagedArray<uint32_t> open(graph.numEvents());
  for (uint32_t e = 0; e < graph.numEvents(); ++e)
    open[e] = graph.numPredecessors(Event{e}, rules);
  PagedArray<Event> order;
  order.reserve(graph.numEvents());
  for (uint32_t e = 0; e < graph.numEvents(); ++e)
    if (open[e] == 0)
      *order.grow(1) = Event{e};
  for (size_t at = 0; at < order.size(); ++at)
    graph.forEachSuccessor(order[at], rules, [&](Event later) {
      if (--open[index(later)] == 0)
        *order.grow(1) = later;
    });
  return order;
}

} // namespace colldsl::proof
