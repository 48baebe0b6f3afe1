#include "verifier/Checks.h"

#include "verifier/RankSets.h"

#include <optional>

// Sets of ranks flow along happens-before: an event knows of its own rank's start and
// of all starts that the events before it know of. A rank is done when all its events are,
// so its end knows what any of them knows.
// Example: 0 signals 1, 1 waits: the end of 1 knows {0, 1}, the end of 0 only {0}.
//
// In what people write these sets are intervals, subtrees, nodes of a machine: parts of them are
// alike, and with RankSets an event takes a few steps. Where events take more than stepsPerEvent on
// average, the sets are bits of a word instead, of 64 ranks at a time: (events + edges) * ranks /
// 64 steps.

namespace colldsl::proof {
namespace {

/// Sets of all ranks, within the steps that are worth it.
class SharedSets {
public:
  using Set = RankSets::Set;

  SharedSets(uint32_t numRanks, uint64_t mostSteps) : sets_(numRanks), most_(mostSteps) {}

  Set of(Rank rank) const { return RankSets::of(rank); }
  Set unite(Set a, Set b) { return sets_.unite(a, b); }
  bool isAll(Set set) const { return sets_.isAll(set); }
  bool tooMany() const { return sets_.steps() > most_; }

private:
  RankSets sets_;
  uint64_t most_;
};

/// Sets of the ranks base .. base+63.
class WordSets {
public:
  using Set = uint64_t;

  WordSets(const EventGraph &graph, uint32_t base) : base_(base) {
    uint32_t ranks = graph.model().numRanks() - base;
    all_ = ranks >= kBits ? ~uint64_t{0} : (uint64_t{1} << ranks) - 1;
  }

  static constexpr uint32_t kBits = 64;

  Set of(Rank rank) const {
    uint32_t at = index(rank) - base_; // wraps for ranks below the base
    return at < kBits ? uint64_t{1} << at : 0;
  }
  Set unite(Set a, Set b) const { return a | b; }
  bool isAll(Set set) const { return set == all_; }
  bool tooMany() const { return false; }

private:
  uint32_t base_;
  uint64_t all_;
};

/// Per rank: true if its end knows of all ranks of these sets. Nothing if that takes too many
/// steps.
template <typename Sets>
std::optional<std::vector<bool>> knowAll(const EventGraph &graph, std::span<const Event> order,
                                         Sets sets) {
  using Set = typename Sets::Set;
  const Model &model = graph.model();
  PagedArray<Set> known(graph.numEvents()); // none
  std::vector<Set> atEnd(model.numRanks());
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    atEnd[r] = sets.of(Rank{r});
  for (Event e : order) {
    if (sets.tooMany())
      return std::nullopt;
    uint32_t rank = index(model.rankOf(vertexOf(e)));
    Set here = known[index(e)];
    if (isStart(e) && model.op(vertexOf(e)).depCount == 0) // all others come after such a start
      here = sets.unite(here, sets.of(Rank{rank}));
    bool isLast = true;
    graph.forEachSuccessor(e, Rules::HappensBefore, [&](Event later) {
      known[index(later)] = sets.unite(known[index(later)], here);
      isLast &= model.rankOf(vertexOf(later)) != Rank{rank};
    });
    if (isLast)
      atEnd[rank] = sets.unite(atEnd[rank], here);
  }
  std::vector<bool> result;
  for (Set set : atEnd)
    result.push_back(sets.isAll(set));
  return result;
}

/// Per rank: true if its end knows of all ranks.
std::vector<bool> knowAllRanks(const EventGraph &graph, std::span<const Event> order,
                               uint64_t mostSteps) {
  uint32_t numRanks = graph.model().numRanks();
  if (numRanks > WordSets::kBits)
    if (auto result = knowAll(graph, order, SharedSets(numRanks, mostSteps)))
      return *result;
  std::vector<bool> result(numRanks, true);
  for (uint32_t base = 0; base < numRanks; base += WordSets::kBits) {
    std::vector<bool> some = *knowAll(graph, order, WordSets(graph, base));
    for (uint32_t r = 0; r < numRanks; ++r)
      result[r] = result[r] && some[r];
  }
  return result;
}

/// The ranks whose start the end of a rank does not know of.
std::vector<std::string> unknownTo(Rank rank, const EventGraph &graph) {
  const Model &model = graph.model();
  std::vector<bool> isKnown(model.numRanks()), seen(graph.numEvents());
  std::vector<Event> open;
  auto see = [&](Event e) {
    if (seen[index(e)])
      return;
    seen[index(e)] = true;
    isKnown[index(model.rankOf(vertexOf(e)))] = true;
    open.push_back(e);
  };
  isKnown[index(rank)] = true;
  uint32_t last = index(model.firstOf(Rank{index(rank) + 1}));
  for (uint32_t v = index(model.firstOf(rank)); v < last; ++v)
    see(finishOf(Vertex{v}));
  while (!open.empty()) {
    Event e = open.back();
    open.pop_back();
    graph.forEachPredecessor(e, see);
  }
  std::vector<std::string> unknown;
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    if (!isKnown[r])
      unknown.push_back(std::to_string(r));
  return unknown;
}

} // namespace

void checkSynchronizes(const EventGraph &graph, std::span<const Event> order, Failures &failures,
                       uint64_t stepsPerEvent) {
  std::vector<bool> fine = knowAllRanks(graph, order, stepsPerEvent * graph.numEvents());
  for (uint32_t r = 0; r < fine.size() && !failures.full(); ++r) {
    if (fine[r])
      continue;
    std::vector<std::string> unknown = unknownTo(Rank{r}, graph);
    failures.add({Proof::Contract,
                  "rank " + std::to_string(r) + " may finish before " +
                      (unknown.size() == 1 ? "rank " : "ranks ") + listed(unknown) +
                      (unknown.size() == 1 ? " has" : " have") + " started" +
                      (graph.model().lengths() ? ", where all blocks are empty" : "") +
                      ", but the collective promises to synchronize",
                  {{Rank{r}, kNoOp, {}, "nothing it waits for comes from there"}}});
  }
}

} // namespace colldsl::proof
