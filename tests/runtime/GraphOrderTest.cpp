// Rounds that ranks find, each knowing its own edges alone, and schedules in their order.
#include "compiler/Compile.h"
#include "program/Program.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"
#include "tests/runtime/RandomGraphs.h"
#include "verifier/Verifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace colldsl {
namespace {

const GraphOrderOptions kGather;
const GraphOrderOptions kAsk{true, 1};

std::vector<GivenGraph> someGraphs(uint32_t ranks, uint32_t count) {
  std::vector<GivenGraph> graphs;
  for (uint32_t seed = 0; seed < count; ++seed)
    graphs.push_back(randomMultigraph(ranks, seed));
  return graphs;
}

std::vector<std::vector<GraphOrder>> orders(uint32_t ranks, const std::vector<GivenGraph> &graphs,
                                            const GraphOrderOptions &options) {
  auto found = orderOnRanks(ranks, graphs, options);
  EXPECT_TRUE(found.ok()) << ranks << " ranks: " << found.message();
  return found ? found.take() : std::vector<std::vector<GraphOrder>>();
}

/// Per edge of portsOf(): what its rank found; a rank that keeps its slots' order counts them.
std::vector<uint32_t> colorsOf(const PortGraph &ports, const std::vector<GraphOrder> &found) {
  std::vector<uint32_t> color, next(found.size(), 0);
  for (uint32_t rank : ports.from) {
    uint32_t slot = next[rank]++;
    color.push_back(found[rank].round.empty() ? slot : found[rank].round.at(slot));
  }
  return color;
}

uint32_t roundsOf(const std::vector<uint32_t> &color) {
  return color.empty() ? 0 : *std::max_element(color.begin(), color.end()) + 1;
}

TEST(GraphOrder, HasTheFewestRoundsOnAnyNumberOfRanks) {
  uint32_t reordered = 0;
  for (uint32_t ranks = 1; ranks <= 16; ++ranks) {
    std::vector<GivenGraph> graphs = someGraphs(ranks, 12);
    auto found = orders(ranks, graphs, kGather);
    for (size_t g = 0; g < found.size(); ++g) {
      PortGraph ports = portsOf(graphs[g]);
      std::vector<uint32_t> color = colorsOf(ports, found[g]);
      EXPECT_EQ(clash(ports, color), "") << ranks << " ranks, graph " << g;
      EXPECT_LE(roundsOf(color), highestDegree(ports));
      for (const GraphOrder &order : found[g])
        EXPECT_EQ(order.rounds, highestDegree(ports)) << ranks << " ranks, graph " << g;
      reordered += color != colorsOf(ports, std::vector<GraphOrder>(ranks));
    }
  }
  EXPECT_GT(reordered, 100u);
}

TEST(GraphOrder, EqualsTheOrderOfTheWholeGraph) {
  constexpr uint32_t kRanks = 9;
  std::vector<GivenGraph> graphs = someGraphs(kRanks, 12);
  auto found = orders(kRanks, graphs, kGather);
  for (size_t g = 0; g < found.size(); ++g) {
    PortGraph ports = portsOf(graphs[g]);
    std::optional<EdgeColors> inOrder = colorInOrder(ports);
    EXPECT_EQ(colorsOf(ports, found[g]), inOrder ? inOrder->color : colorOptimally(ports).color);
  }
}

TEST(GraphOrder, NeedsLessThanTwiceTheRoundsWithoutGathering) {
  uint32_t reordered = 0;
  for (uint32_t ranks = 1; ranks <= 16; ++ranks) {
    std::vector<GivenGraph> graphs = someGraphs(ranks, 4);
    auto found = orders(ranks, graphs, kAsk);
    for (size_t g = 0; g < found.size(); ++g) {
      PortGraph ports = portsOf(graphs[g]);
      std::vector<uint32_t> color = colorsOf(ports, found[g]);
      EXPECT_EQ(clash(ports, color), "") << ranks << " ranks, graph " << g;
      for (const GraphOrder &order : found[g])
        EXPECT_EQ(order.rounds, roundsOf(color)) << ranks << " ranks, graph " << g;
      EXPECT_LE(roundsOf(color), std::max(2 * highestDegree(ports), 1u) - 1);
      reordered += color != colorsOf(ports, std::vector<GraphOrder>(ranks));
    }
  }
  EXPECT_GT(reordered, 30u);
}

TEST(GraphOrder, LeavesSlotsThatAreRoundsAlready) {
  for (const GraphOrderOptions &options : {kGather, kAsk})
    for (const auto &ofRank : orders(7, {shifts(7, 1), shifts(7, 4)}, options))
      for (const GraphOrder &order : ofRank)
        EXPECT_TRUE(order.round.empty());
  EXPECT_EQ(orders(7, {shifts(7, 4)}, kGather)[0][3].rounds, 4u);
  EXPECT_EQ(orders(7, {shifts(7, 4)}, kAsk)[0][3].rounds, 4u);
}

TEST(GraphOrder, MayBeOff) {
  for (const auto &ofRank : orders(4, {randomMultigraph(4, 3)}, {false, 1}))
    for (const GraphOrder &order : ofRank) {
      EXPECT_EQ(order.rounds, 0u);
      EXPECT_TRUE(order.round.empty());
    }
}

/// Rank 0 says that it sends to rank 1, which does not know.
TEST(GraphOrder, RanksThatDisagreeLearnItTogether) {
  GivenGraph graph = shifts(3, 2);
  graph.ranks[0].out.push_back({1});
  auto found = orderOnRanks(3, {graph}, kAsk);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.message().find("rank"), std::string::npos) << found.message();
}

const Compilation &program() {
  static Compilation compilation = compileFiles({COLLDSL_ALONG});
  EXPECT_TRUE(compilation.ok());
  return compilation;
}

Schedule make(const std::string &name, const GivenGraph &graph) {
  InstantiateRequest request;
  request.collective = program().program().find(name, DeclKind::Collective);
  request.ranks = static_cast<uint32_t>(graph.ranks.size());
  request.elements = 3;
  request.values = {&graph};
  request.contract = true;
  Result<Schedule> schedule = instantiateAll(program().program(), request);
  EXPECT_TRUE(schedule.ok()) << schedule.message();
  return schedule ? schedule.take() : Schedule();
}

OrderedGraph seenBy(uint32_t rank, const GivenGraph &graph, const GraphOrder &order) {
  return {{rank, {graph.ranks[rank]}}, order};
}

/// Of a Dag or a RankView.
std::vector<uint32_t> peersOfSends(const auto &dag) {
  std::vector<uint32_t> peers;
  for (const auto &op : dag.ops)
    if (op.kind == OpKind::Send)
      peers.push_back(index(op.peer));
  return peers;
}

/// The peers of a rank's out-edges in the order of their rounds.
std::vector<uint32_t> peersByRound(const RankEdges &own, const GraphOrder &order) {
  std::map<uint32_t, uint32_t> peerOf;
  size_t slot = 0;
  for (const RankEdges::Edge &edge : own.out)
    if (edge.peer != kNone)
      peerOf[order.round.at(slot++)] = static_cast<uint32_t>(edge.peer);
  std::vector<uint32_t> peers;
  for (auto [round, peer] : peerOf)
    peers.push_back(peer);
  return peers;
}

uint32_t numIRequires(const Dag &dag) {
  return static_cast<uint32_t>(std::count_if(
      dag.deps.begin(), dag.deps.end(), [](const Dep &d) { return d.kind == DepKind::IRequires; }));
}

void expectProvedInOrder(Schedule schedule, const GivenGraph &graph,
                         const std::vector<GraphOrder> &found) {
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    Dag &dag = schedule.ranks[r];
    const RankEdges &own = graph.ranks[r];
    ASSERT_TRUE(isAlong(dag, own));
    if (found[r].round.empty())
      continue;
    ASSERT_TRUE(orderAlong(dag, seenBy(r, graph, found[r])).ok());
    EXPECT_EQ(peersOfSends(dag), peersByRound(own, found[r]));
    EXPECT_EQ(numIRequires(dag) + 1, peersOfSends(dag).size());
  }
  proof::VerifyReport report = proof::verify(schedule, {Sizes{3, {}}});
  EXPECT_TRUE(report.proved() && report.contractChecked) << describe(report, schedule);
}

TEST(GraphOrder, IsProvedWithTheSchedule) {
  for (uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 16u})
    for (const GraphOrderOptions &options : {kGather, kAsk}) {
      std::vector<GivenGraph> graphs = someGraphs(ranks, 4);
      auto found = orders(ranks, graphs, options);
      for (size_t g = 0; g < found.size(); ++g)
        for (const char *name : {"neighbor_alltoall", "neighbor_allgather"})
          expectProvedInOrder(make(name, graphs[g]), graphs[g], found[g]);
    }
}

TEST(GraphOrder, IsForMessagesAlongTheGraphAlone) {
  GivenGraph graph = shifts(5, 3);
  for (const char *name : {"relayed", "halves", "packed"})
    EXPECT_FALSE(isAlong(make(name, graph).ranks[2], graph.ranks[2])) << name;
  Schedule along = make("neighbor_alltoall", graph);
  EXPECT_TRUE(isAlong(along.ranks[2], graph.ranks[2]));
  EXPECT_FALSE(isAlong(along.ranks[2], graph.ranks[3]));
}

/// Runs an alltoall of one number per edge; told: what a rank found wrong.
Status exchange(Communicator &communicator, Library &library, const GivenGraph &graph,
                const GraphOrderOptions &options) {
  uint32_t me = index(communicator.rank());
  const RankEdges &own = graph.ranks[me];
  Result<GraphOrder> order = orderGraph(communicator, own, options);
  if (!order)
    return order.status();
  std::vector<int32_t> send, recv(own.in.size(), -1);
  for (size_t slot = 0; slot < own.out.size(); ++slot)
    send.push_back(static_cast<int32_t>(me * 1000 + slot));
  CollectivePlan plan(communicator, library, "neighbor_alltoall");
  auto seen = std::make_shared<OrderedGraph>(seenBy(me, graph, *order));
  for (Status s : {plan.setType(ElementType::I32), plan.setGraph("g", seen), plan.setElements(1),
                   plan.bind("send", BoundBuffer::in(send.data(), send.size() * 4)),
                   plan.bind("recv", {recv.data(), recv.size() * 4}), plan.commit()})
    if (!s)
      return s;
  if (!order->round.empty() && peersOfSends(plan.view()) != peersByRound(own, *order))
    return Status::error("the plan does not follow the rounds");
  for (int run = 0; run < 2; ++run)
    for (Status s : {plan.start(), plan.plan().wait(std::chrono::seconds(20))})
      if (!s)
        return s;
  std::map<int64_t, uint32_t> count; // edges of one peer so far
  for (size_t slot = 0; slot < own.in.size(); ++slot) {
    int64_t peer = own.in[slot].peer;
    if (peer == kNone)
      continue;
    const auto &out = graph.ranks[static_cast<size_t>(peer)].out;
    size_t theirs = 0;
    for (uint32_t before = count[peer]++;; ++theirs)
      if (out[theirs].peer == me && before-- == 0)
        break;
    if (recv[slot] != static_cast<int32_t>(static_cast<size_t>(peer) * 1000 + theirs))
      return Status::error("slot " + std::to_string(slot) + " got " + std::to_string(recv[slot]));
  }
  return {};
}

TEST(GraphOrder, PlansFollowItAndBringTheRightData) {
  std::vector<std::byte> bytes =
      encodeLibrary({{"test", 1, {}}, program().program(), {}, {}, {}, {}, {}, {}});
  for (uint32_t ranks : {1u, 2u, 5u, 9u, 16u})
    for (const GraphOrderOptions &options : {kGather, kAsk, GraphOrderOptions{false, 0}}) {
      LocalOptions local;
      local.numRanks = ranks;
      local.timeout = std::chrono::seconds(300);
      auto outcomes = runLocalRanks(local, [&](Endpoint &e) -> Result<std::vector<std::byte>> {
        Communicator communicator(e, Topology());
        auto library = Library::view(bytes);
        if (!library)
          return library.status();
        for (const GivenGraph &graph : someGraphs(ranks, 4))
          if (Status s = exchange(communicator, **library, graph, options); !s)
            return s;
        return std::vector<std::byte>();
      });
      ASSERT_TRUE(outcomes.ok());
      Status s = firstFailure(*outcomes);
      EXPECT_TRUE(s.ok()) << ranks << " ranks: " << s.message();
    }
}

} // namespace
} // namespace colldsl
