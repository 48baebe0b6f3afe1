#include "verifier/EventGraph.h"

#include <algorithm>

namespace colldsl::proof {

EventGraph::EventGraph(const Model &model, const Messages &messages, uint32_t channelSlots)
    : model_(model), messages_(messages) {
  collectDependents();
  collectChannels(channelSlots);
}

void EventGraph::collectDependents() {
  uint32_t vertices = model_.numVertices();
  dependentsBegin_.assign(vertices + 1, 0);
  auto forEachDepOfAll = [&](auto visit) {
    for (uint32_t v = 0; v < vertices; ++v) {
      Rank rank = model_.rankOf(Vertex{v});
      for (const Dep &dep : model_.dag(rank).depsOf(model_.op(Vertex{v})))
        visit(index(model_.vertex(rank, dep.op)), Dependent{Vertex{v}, dep.kind});
    }
  };
  forEachDepOfAll([&](uint32_t older, Dependent) { ++dependentsBegin_[older + 1]; });
  for (uint32_t v = 0; v < vertices; ++v)
    dependentsBegin_[v + 1] += dependentsBegin_[v];
  dependents_.resize(dependentsBegin_[vertices]);
  std::vector<uint32_t> at(dependentsBegin_.begin(), dependentsBegin_.end() - 1);
  forEachDepOfAll([&](uint32_t older, Dependent d) { dependents_[at[older]++] = d; });
}

void EventGraph::collectChannels(uint32_t slots) {
  next_.assign(model_.numVertices(), kNoVertex);
  slotUser_.assign(model_.numVertices(), kNoVertex);
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
      next_[index(channel[k])] = channel[k + 1];
      next_[index(recv)] = partnerOf(channel[k + 1]);
    }
    if (slots != 0 && k + slots < channel.size())
      slotUser_[index(recv)] = channel[k + slots];
  }
}

std::vector<Event> topologicalOrder(const EventGraph &graph, Rules rules) {
  std::vector<uint32_t> open(graph.numEvents(), 0);
  for (uint32_t e = 0; e < graph.numEvents(); ++e)
    graph.forEachSuccessor(Event{e}, rules, [&](Event later) { ++open[index(later)]; });
  std::vector<Event> order;
  order.reserve(graph.numEvents());
  for (uint32_t e = 0; e < graph.numEvents(); ++e)
    if (open[e] == 0)
      order.push_back(Event{e});
  for (size_t at = 0; at < order.size(); ++at)
    graph.forEachSuccessor(order[at], rules, [&](Event later) {
      if (--open[index(later)] == 0)
        order.push_back(later);
    });
  return order;
}

} // namespace colldsl::proof
