#include "verifier/Checks.h"

#include "tests/verifier/ScheduleBuilder.h"
#include "verifier/MessageDepths.h"
#include "verifier/PortRounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace colldsl::proof {
namespace {

using test::Deps;
using test::requires_;
using test::ScheduleBuilder;

/// The event graph of a schedule that matches.
class Graph {
public:
  explicit Graph(ScheduleBuilder &b)
      : model_(b.schedule(), b.sizes()), placement_(model_), names_(model_, placement_),
        none_(model_, 1), messages_(matchMessages(model_, placement_, names_, none_)),
        graph_(model_, messages_, 0) {}

  const EventGraph &get() const { return graph_; }

private:
  Model model_;
  Placement placement_;
  DiagnosticNames names_;
  Failures none_;
  Messages messages_;
  EventGraph graph_;
};

/// The one-port model as its header words it, round by round over all ops.
class NaiveRounds {
public:
  explicit NaiveRounds(const EventGraph &graph)
      : graph_(graph), model_(graph.model()), started_(model_.numVertices()),
        finished_(model_.numVertices()), round_(model_.numVertices()),
        offer_(model_.numRanks(), kNoVertex), offeredIn_(model_.numRanks()) {}

  std::vector<uint32_t> run() {
    for (uint32_t round = 1;; ++round) {
      startAll();
      offerAll(round);
      std::vector<Vertex> taken;
      for (uint32_t to = 0; to < model_.numRanks(); ++to)
        if (Vertex v = oldestOffer(to); exists(v))
          taken.push_back(v);
      if (taken.empty())
        return round_;
      for (Vertex v : taken) {
        offer_[index(model_.rankOf(v))] = kNoVertex;
        for (Vertex end : {v, graph_.partnerOf(v)}) {
          round_[index(end)] = round;
          finished_[index(end)] = true;
        }
      }
    }
  }

private:
  bool mayStart(Vertex v) const {
    Rank rank = model_.rankOf(v);
    for (const Dep &dep : model_.dag(rank).depsOf(model_.op(v))) {
      uint32_t other = index(model_.vertex(rank, dep.op));
      if (!(dep.kind == DepKind::Requires ? finished_ : started_)[other])
        return false;
    }
    return true;
  }

  void startAll() {
    for (bool changes = true; changes;) {
      changes = false;
      for (uint32_t i = 0; i < model_.numVertices(); ++i) {
        if (started_[i] || !mayStart(Vertex{i}))
          continue;
        started_[i] = changes = true;
        finished_[i] = !exists(graph_.partnerOf(Vertex{i}));
      }
    }
  }

  void offerAll(uint32_t round) {
    for (uint32_t i = 0; i < model_.numVertices(); ++i) {
      Vertex v{i}, other = graph_.partnerOf(v);
      if (exists(other) && graph_.sends(v) && started_[i] && started_[index(other)])
        readyIn_.try_emplace(i, round);
    }
    for (uint32_t from = 0; from < model_.numRanks(); ++from)
      if (Vertex v = readyForLongest(from); !exists(offer_[from]) && exists(v)) {
        offer_[from] = v;
        offeredIn_[from] = round;
      }
  }

  /// The message of a rank that has been ready for longest, and has not travelled.
  Vertex readyForLongest(uint32_t from) const {
    Vertex first = kNoVertex;
    for (auto [i, round] : readyIn_)
      if (index(model_.rankOf(Vertex{i})) == from && round_[i] == 0 &&
          (!exists(first) || round < readyIn_.at(index(first))))
        first = Vertex{i};
    return first;
  }

  Vertex oldestOffer(uint32_t to) const {
    Vertex oldest = kNoVertex;
    for (uint32_t from = 0; from < model_.numRanks(); ++from)
      if (Vertex v = offer_[from]; exists(v) && index(model_.op(v).peer) == to)
        if (!exists(oldest) || offeredIn_[from] < offeredIn_[index(model_.rankOf(oldest))])
          oldest = v;
    return oldest;
  }

  const EventGraph &graph_;
  const Model &model_;
  std::vector<bool> started_, finished_;
  std::vector<uint32_t> round_;
  std::map<uint32_t, uint32_t> readyIn_; // vertices of sends
  std::vector<Vertex> offer_;            // per sender
  std::vector<uint32_t> offeredIn_;
};

/// Signals between random ranks, in an order that synchronous sends do not deadlock.
ScheduleBuilder randomSignals(uint32_t seed) {
  std::mt19937 random(seed);
  uint32_t ranks = 2 + random() % 6, count = random() % 30;
  ScheduleBuilder b(ranks);
  std::vector<std::vector<OpId>> before(ranks);
  auto deps = [&](uint32_t rank) {
    Deps chosen;
    for (OpId op : before[rank])
      if (random() % 4 == 0)
        chosen.push_back({op, random() % 3 == 0 ? DepKind::IRequires : DepKind::Requires});
    return chosen;
  };
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t from = random() % ranks, to = (from + 1 + random() % (ranks - 1)) % ranks;
    OpId send = b.signal(from, to, deps(from), i), wait = b.wait(to, from, deps(to), i);
    before[from].push_back(send);
    before[to].push_back(wait);
  }
  return b;
}

/// Per round, each rank sends at most once and receives at most once, and what a message waits for
/// came before.
void expectOnePort(const EventGraph &graph, const std::vector<uint32_t> &rounds) {
  const Model &model = graph.model();
  std::set<std::tuple<uint32_t, uint32_t, bool>> uses;
  for (uint32_t i = 0; i < model.numVertices(); ++i) {
    Vertex v{i};
    ASSERT_EQ(rounds[i] > 0, exists(graph.partnerOf(v)));
    ASSERT_TRUE(uses.insert({index(model.rankOf(v)), rounds[i], graph.sends(v)}).second);
    for (const Dep &dep : model.dag(model.rankOf(v)).depsOf(model.op(v)))
      if (dep.kind == DepKind::Requires) {
        ASSERT_LT(rounds[index(model.vertex(model.rankOf(v), dep.op))], rounds[i]);
      }
  }
}

TEST(PortRounds, AsTheModelWordsIt) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    ScheduleBuilder b = randomSignals(seed);
    Graph graph(b);
    std::vector<uint32_t> rounds = portRounds(graph.get());
    EXPECT_EQ(rounds, NaiveRounds(graph.get()).run()) << seed;
    expectOnePort(graph.get(), rounds);
    std::vector<uint32_t> depths =
        messageDepths(graph.get(), topologicalOrder(graph.get(), Rules::HappensBefore));
    for (size_t i = 0; i < rounds.size(); ++i)
      EXPECT_LE(depths[i], rounds[i]) << seed;
  }
}

/// Rank 0 sends its block to all others.
ScheduleBuilder star(uint32_t ranks) {
  ScheduleBuilder b(ranks);
  BufferId y = b.param("y", BufferRole::InOut);
  for (uint32_t r = 1; r < ranks; ++r) {
    b.send(0, {b.blockOf(y, 0)}, r);
    b.recv(r, {b.blockOf(y, 0)}, 0);
  }
  for (uint32_t r = 0; r < ranks; ++r)
    b.ensure(r, b.blockOf(y, 0), 0, b.blockOf(y, 0));
  return b;
}

constexpr int64_t kBlockBytes = 8 * 4;

TEST(Costs, BoundsThatHold) {
  ScheduleBuilder b = star(4);
  b.schedule().costs = {{Rank{0}, Cost::Rounds, 3, {}},
                        {Rank{3}, Cost::Rounds, 3, {}},
                        {Rank{1}, Cost::Rounds, 1, {}},
                        {Rank{3}, Cost::Depth, 1, {}},
                        {Rank{0}, Cost::Sent, 3 * kBlockBytes, {}},
                        {Rank{0}, Cost::Received, 0, {}},
                        {Rank{2}, Cost::Received, kBlockBytes, {}},
                        {Rank{2}, Cost::Sent, 0, {}}};
  EXPECT_EQ(b.verdict(), star(4).verdict());
  EXPECT_TRUE(b.verify().proved());
}

TEST(Costs, BoundsThatAreBroken) {
  struct Case {
    CostBound bound;
    const char *words;
  };
  for (const Case &c :
       {Case{{Rank{0}, Cost::Rounds, 2, {}},
             "rank 0: 'rounds' is 3 rounds, but at most 2 rounds were"},
        Case{{Rank{3}, Cost::Depth, 0, {}},
             "rank 3: 'depth' is 1 message, but at most 0 messages were"},
        Case{{Rank{0}, Cost::Sent, 95, {}},
             "rank 0: 'sent' is 96 bytes, but at most 95 bytes were"},
        Case{{Rank{1}, Cost::Received, 31, {}}, "'received' is 32 bytes, but at most 31"},
        Case{{Rank{1}, Cost::Sent, -1, {}}, "'sent' is 0 bytes, but at most -1"}}) {
    ScheduleBuilder b = star(4);
    b.schedule().costs = {c.bound};
    EXPECT_TRUE(test::fails(b.verify(), Proof::Contract, {c.words})) << b.verdict();
  }
}

TEST(Costs, EmptyMessagesCostNothing) {
  ScheduleBuilder b(2, 0);
  BufferId y = b.param("y", BufferRole::InOut);
  b.send(0, {b.blockOf(y, 0)}, 1);
  b.recv(1, {b.blockOf(y, 0)}, 0);
  b.schedule().costs = {
      {Rank{0}, Cost::Rounds, 0, {}}, {Rank{1}, Cost::Depth, 0, {}}, {Rank{0}, Cost::Sent, 0, {}}};
  EXPECT_TRUE(b.verify().proved());
}

} // namespace
} // namespace colldsl::proof
