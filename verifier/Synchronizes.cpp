#include "verifier/Synchronizes.h"

#include "verifier/DiagnosticNames.h"

// Sets of ranks flow along happens-before: an event knows of its own rank's start and
// of all starts that the events before it know of. A rank is done when all its events are,
// so its end knows what any of them knows. 64 ranks at a time, as the bits of a word:
// (events + edges) * ranks / 64 steps.
// Example: 0 signals 1, 1 waits: the end of 1 knows {0, 1}, the end of 0 only {0}.

namespace colldsl::proof {
namespace {

constexpr uint32_t kBits = 64;

uint64_t bitOf(Rank rank, uint32_t base) {
  uint32_t at = index(rank) - base; // wraps for ranks below the base
  return at < kBits ? uint64_t{1} << at : 0;
}

/// Per rank, which of the ranks base .. base+63 its end knows of.
std::vector<uint64_t> knownAtEnd(const EventGraph &graph, const std::vector<Event> &order,
                                 uint32_t base) {
  const Model &model = graph.model();
  std::vector<uint64_t> known(graph.numEvents(), 0);
  std::vector<uint64_t> atEnd(model.numRanks(), 0);
  for (Event e : order) {
    Rank rank = model.rankOf(vertexOf(e));
    uint64_t here = known[index(e)] |= bitOf(rank, base);
    atEnd[index(rank)] |= here;
    graph.forEachSuccessor(e, Rules::HappensBefore,
                           [&](Event later) { known[index(later)] |= here; });
  }
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    atEnd[r] |= bitOf(Rank{r}, base);
  return atEnd;
}

} // namespace

void checkSynchronizes(const EventGraph &graph, const std::vector<Event> &order,
                       Failures &failures) {
  uint32_t numRanks = graph.model().numRanks();
  std::vector<std::vector<std::string>> unheard(numRanks);
  for (uint32_t base = 0; base < numRanks; base += kBits) {
    std::vector<uint64_t> known = knownAtEnd(graph, order, base);
    for (uint32_t r = 0; r < numRanks; ++r)
      for (uint32_t other = base; other < std::min(numRanks, base + kBits); ++other)
        if (!(known[r] & bitOf(Rank{other}, base)))
          unheard[r].push_back(std::to_string(other));
  }
  for (uint32_t r = 0; r < numRanks && !failures.full(); ++r)
    if (!unheard[r].empty())
      failures.add({Proof::Contract,
                    "rank " + std::to_string(r) + " may finish before " +
                        (unheard[r].size() == 1 ? "rank " : "ranks ") + listed(unheard[r]) +
                        (unheard[r].size() == 1 ? " has" : " have") +
                        " started, but the collective promises to synchronize",
                    {{Rank{r}, kNoOp, {}, "nothing it waits for comes from there"}}});
}

} // namespace colldsl::proof
