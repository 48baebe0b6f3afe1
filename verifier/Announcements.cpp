#include "verifier/Checks.h"

#include <algorithm>

// Starts of receives flow along happens-before, 64 messages at a time, as the bits of a word:
// (events + edges) * announced messages / 64 steps.

namespace colldsl::proof {
namespace {

constexpr size_t kBits = 64;

std::vector<Vertex> announcedReceives(const EventGraph &graph) {
  std::vector<Vertex> receives;
  for (uint32_t v = 0; v < graph.model().numVertices(); ++v)
    if (graph.model().op(Vertex{v}).transfer.announced && !graph.sends(Vertex{v}) &&
        exists(graph.partnerOf(Vertex{v})))
      receives.push_back(Vertex{v});
  return receives;
}

/// The receives whose send may start before they do.
std::vector<Vertex> unannounced(const EventGraph &graph, const EventGraph &certain,
                                std::span<const Event> order, std::span<const Vertex> receives) {
  std::vector<uint64_t> started(graph.numEvents(), 0);
  for (size_t i = 0; i < receives.size(); ++i)
    started[index(startOf(receives[i]))] = uint64_t{1} << i;
  for (Event e : order)
    if (uint64_t here = started[index(e)])
      certain.forEachSuccessor(e, Rules::HappensBefore,
                               [&](Event later) { started[index(later)] |= here; });
  std::vector<Vertex> missing;
  for (size_t i = 0; i < receives.size(); ++i)
    if (!(started[index(startOf(graph.partnerOf(receives[i])))] >> i & 1))
      missing.push_back(receives[i]);
  return missing;
}

} // namespace

void checkAnnouncements(const EventGraph &graph, const EventGraph &certain,
                        std::span<const Event> order, const DiagnosticNames &names,
                        Failures &failures) {
  std::vector<Vertex> receives = announcedReceives(graph);
  for (std::span<const Vertex> rest(receives); !rest.empty() && !failures.full();) {
    std::span<const Vertex> some = rest.first(std::min(kBits, rest.size()));
    for (Vertex recv : unannounced(graph, certain, order, some)) {
      Vertex send = graph.partnerOf(recv);
      failures.add({Proof::Races,
                    names.opOfRank(recv) + " is announced, but its sender is not told that it " +
                        "has started",
                    {failures.step(send, names.op(send) + " may write the bytes before"),
                     failures.step(recv, names.op(recv) + " has started")}});
    }
    rest = rest.subspan(some.size());
  }
}

} // namespace colldsl::proof
