#include "verifier/Checks.h"

#include "tests/verifier/ScheduleBuilder.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace colldsl::proof {
namespace {

using test::Deps;
using test::ScheduleBuilder;

/// Signals in rounds. All of a round wait for all before, but for mistakes in every other barrier.
class RandomBarrier {
public:
  RandomBarrier(uint32_t numRanks, uint32_t seed)
      : numRanks_(numRanks), random_(seed), b_(numRanks), heard_(numRanks),
        isFlawed_(seed % 2 == 1) {}

  ScheduleBuilder make() {
    uint32_t rounds = 1;
    while (1u << rounds < numRanks_)
      ++rounds;
    uint32_t kind = below(4);
    uint32_t count = kind == 0 ? 3 * rounds : rounds; // of random partners more are needed
    for (uint32_t k = 0; k < count; ++k)
      addRound(isFlawed_ && below(6) == 0 ? below(4) : kind, k, rounds);
    b_.schedule().synchronizes = true;
    return std::move(b_);
  }

private:
  uint32_t below(uint32_t bound) { return random_() % bound; }

  /// Whom each rank signals in round k.
  std::vector<uint32_t> targets(uint32_t kind, uint32_t k, uint32_t rounds) {
    std::vector<uint32_t> to(numRanks_);
    std::iota(to.begin(), to.end(), 0);
    uint32_t bit = 1u << (kind == 1 ? rounds - 1 - k % rounds : k % rounds);
    for (uint32_t r = 0; r < numRanks_; ++r)
      if (kind == 2 || (kind == 1 && (r ^ bit) < numRanks_))
        to[r] = kind == 1 ? r ^ bit : (r + bit) % numRanks_;
    if (kind == 0)
      std::shuffle(to.begin(), to.end(), random_);
    if (kind == 3) // a hub
      std::fill(to.begin(), to.end(), below(numRanks_));
    return to;
  }

  void addRound(uint32_t kind, uint32_t k, uint32_t rounds) {
    std::vector<uint32_t> to = targets(kind, k, rounds);
    std::vector<Deps> before = heard_;
    uint32_t lost = isFlawed_ && below(4) == 0 ? below(numRanks_) : numRanks_;
    for (uint32_t r = 0; r < numRanks_; ++r)
      if (to[r] != r && r != lost)
        addSignal(r, to[r], k, before);
  }

  void addSignal(uint32_t from, uint32_t to, uint32_t k, const std::vector<Deps> &before) {
    b_.signal(from, to, isFlawed_ && below(200) == 0 ? Deps() : before[from], k);
    OpId wait = b_.wait(to, from, below(2) ? before[to] : Deps(), k);
    bool isEarly = isFlawed_ && below(300) == 0;
    heard_[to].push_back(isEarly ? test::irequires(wait) : test::requires_(wait));
  }

  uint32_t numRanks_;
  std::mt19937 random_;
  ScheduleBuilder b_;
  std::vector<Deps> heard_;
  bool isFlawed_;
};

/// Which ranks have started when a rank ends: sets of ranks per event, spread until nothing
/// changes.
std::vector<std::vector<bool>> knownAtEnds(const EventGraph &graph) {
  const Model &model = graph.model();
  using Set = std::vector<bool>;
  std::vector<Set> known(graph.numEvents(), Set(model.numRanks()));
  for (uint32_t e = 0; e < graph.numEvents(); ++e)
    known[e][index(model.rankOf(vertexOf(Event{e})))] = true;
  auto add = [](Set &to, const Set &from) {
    bool changed = false;
    for (size_t r = 0; r < from.size(); ++r)
      if (from[r] && !to[r])
        to[r] = changed = true;
    return changed;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t e = 0; e < graph.numEvents(); ++e)
      graph.forEachPredecessor(Event{e},
                               [&](Event p) { changes |= add(known[e], known[index(p)]); });
  }
  std::vector<Set> ends(model.numRanks(), Set(model.numRanks()));
  for (uint32_t r = 0; r < model.numRanks(); ++r)
    ends[r][r] = true;
  for (uint32_t e = 0; e < graph.numEvents(); ++e)
    add(ends[index(model.rankOf(vertexOf(Event{e})))], known[e]);
  return ends;
}

std::vector<std::string> promised(const EventGraph &graph) {
  std::vector<std::string> messages;
  std::vector<std::vector<bool>> ends = knownAtEnds(graph);
  for (size_t r = 0; r < ends.size(); ++r) {
    std::vector<std::string> unknown;
    for (size_t other = 0; other < ends.size(); ++other)
      if (!ends[r][other])
        unknown.push_back(std::to_string(other));
    if (!unknown.empty())
      messages.push_back("rank " + std::to_string(r) + " may finish before " +
                         (unknown.size() == 1 ? "rank " : "ranks ") + listed(unknown));
  }
  return messages;
}

class Checked {
public:
  explicit Checked(const ScheduleBuilder &b, const Schedule &schedule)
      : model_(schedule, b.sizes()), placement_(model_), names_(model_, placement_),
        none_(model_, 1), messages_(matchMessages(model_, placement_, names_, none_)),
        graph_(model_, messages_, 8), order_(topologicalOrder(graph_, Rules::HappensBefore)) {}

  const EventGraph &graph() const { return graph_; }

  std::vector<std::string> failures(uint64_t stepsPerEvent) const {
    Failures failures(model_, model_.numRanks(), Grouping::None);
    checkSynchronizes(graph_, order_, failures, stepsPerEvent);
    std::vector<std::string> messages;
    for (const Failure &failure : failures.take())
      messages.push_back(failure.message.substr(0, failure.message.find(" ha")));
    return messages;
  }

private:
  Model model_;
  Placement placement_;
  DiagnosticNames names_;
  Failures none_;
  Messages messages_;
  EventGraph graph_;
  PagedArray<Event> order_;
};

TEST(Synchronizes, agreesWithSetsOfEveryEvent) {
  unsigned fine = 0, failing = 0;
  for (uint32_t seed = 0; seed < 48; ++seed) {
    uint32_t numRanks = seed % 3 ? 2 + seed * 37 % 120 : 64 + seed % 4;
    ScheduleBuilder b = RandomBarrier(numRanks, seed).make();
    Checked checked(b, b.schedule());
    std::vector<std::string> expected = promised(checked.graph());
    for (uint64_t steps : {0, 1, 32, 1000000})
      ASSERT_EQ(checked.failures(steps), expected)
          << numRanks << " ranks, seed " << seed << ", " << steps << " steps";
    ++(expected.empty() ? fine : failing);
  }
  EXPECT_GT(fine, 5u);
  EXPECT_GT(failing, 5u);
}

TEST(EventGraph, countsThePredecessorsOfEachEvent) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    ScheduleBuilder b = RandomBarrier(2 + seed, seed).make();
    for (uint32_t i = 0; i < 5; ++i) { // in one channel
      b.signal(0, 1, {}, 100 + i);
      b.wait(1, 0, {}, 100 + i);
    }
    Model model(b.schedule(), b.sizes());
    Placement placement(model);
    DiagnosticNames names(model, placement);
    Failures failures(model, 1);
    Messages messages = matchMessages(model, placement, names, failures);
    for (uint32_t slots : {0, 1, 2, 8}) {
      EventGraph graph(model, messages, slots);
      for (Rules rules : {Rules::HappensBefore, Rules::SynchronousSends, Rules::FiniteChannels}) {
        std::vector<uint32_t> visits(graph.numEvents());
        for (uint32_t e = 0; e < graph.numEvents(); ++e)
          graph.forEachSuccessor(Event{e}, rules, [&](Event later) { ++visits[index(later)]; });
        for (uint32_t e = 0; e < graph.numEvents(); ++e)
          ASSERT_EQ(graph.numPredecessors(Event{e}, rules), visits[e]) << seed << ", event " << e;
      }
    }
  }
}

} // namespace
} // namespace colldsl::proof
