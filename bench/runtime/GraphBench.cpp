// The cost of finding the rounds of a graph when it is made, by ranks that are processes of this
// machine and know their own edges only: all ranks gather the graph and color it, or ranks ask
// their neighbors. The baseline is one plan along the same graph, connected and run once.
//
// Per figure: the processor time of all ranks together, and the time that passed on rank 0; the
// best of all repetitions. Where ranks share cores they wait for each other's turns, and time that
// passes says little of how it is elsewhere.
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "runtime/graph/GraphOrder.h"
#include "runtime/job/LocalRanks.h"
#include "tests/passes/Graphs.h"

namespace colldsl::bench {
namespace {

constexpr int kRepetitions = 15;

struct Figure {
  double cpuUs, wallUs;
};

struct Own {
  RankEdges edges;
  std::vector<Rank> to, from;
};

Own ownOf(const PortGraph &graph, Rank me) {
  Own own;
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    if (graph.from[e] == index(me)) {
      own.edges.out.push_back({static_cast<int64_t>(graph.to[e])});
      own.to.push_back(Rank{graph.to[e]});
    }
    if (graph.to[e] == index(me)) {
      own.edges.in.push_back({static_cast<int64_t>(graph.from[e])});
      own.from.push_back(Rank{graph.from[e]});
    }
  }
  return own;
}

/// All of `repetitions`, on each rank.
using Measured = std::vector<Figure>;

template <typename Work> Measured repeat(Communicator &communicator, Work work) {
  Measured all;
  for (int i = 0; i < kRepetitions; ++i) {
    if (!communicator.allgatherOne<uint8_t>(0)) // all begin together
      fail("the ranks cannot meet");
    double cpu = processorNs();
    double ns = nsPerCall(1, [&] {
      if (!work())
        fail("a repetition failed");
    });
    all.push_back({(processorNs() - cpu) / 1000, ns / 1000});
  }
  return all;
}

/// The best repetition: processor time summed over ranks, time passed of rank 0.
Figure best(const std::vector<Measured> &ranks) {
  Figure least{1e30, 1e30};
  for (size_t i = 0; i < ranks[0].size(); ++i) {
    double cpu = 0;
    for (const Measured &rank : ranks)
      cpu += rank[i].cpuUs;
    least = {std::min(least.cpuUs, cpu), std::min(least.wallUs, ranks[0][i].wallUs)};
  }
  return least;
}

template <typename Work> Figure measure(const PortGraph &graph, Work work) {
  LocalOptions local;
  local.numRanks = graph.sendPorts;
  auto outcomes = runLocalRanks(local, [&](Endpoint &e) -> Result<std::vector<std::byte>> {
    Communicator communicator(e, Topology());
    Own own = ownOf(graph, communicator.rank());
    return pack(repeat(communicator, [&] { return work(communicator, own); }));
  });
  std::vector<Measured> ranks;
  for (const RankOutcome &outcome : require(std::move(outcomes)))
    ranks.push_back(unpack<Figure>(outcome));
  return best(ranks);
}

void compare(uint32_t ranks, uint32_t degree) {
  PortGraph graph = randomGraph(ranks, degree, 1);
  auto order = [](uint64_t gatherAtMost) {
    return [=](Communicator &communicator, const Own &own) {
      return orderGraph(communicator, own.edges, {true, gatherAtMost}).ok();
    };
  };
  Figure plan = measure(graph, [](Communicator &communicator, const Own &own) {
    return communicator.exchange(own.to, own.from, std::vector<uint64_t>(own.to.size()), 1).ok();
  });
  Figure gathered = measure(graph, order(UINT64_MAX)), asked = measure(graph, order(1));
  std::printf("%5u %6u %6u   %8.0f %7.0f   %8.0f %7.0f %5.1f   %8.0f %7.0f %5.1f\n", ranks, degree,
              highestDegree(graph), plan.cpuUs, plan.wallUs, gathered.cpuUs, gathered.wallUs,
              gathered.cpuUs / plan.cpuUs, asked.cpuUs, asked.wallUs, asked.cpuUs / plan.cpuUs);
  std::fflush(stdout);
}

void compareAll() {
  std::printf("us: processor time of all ranks, time passed; ratio of processor times\n"
              "            highest    plan, one run    gather and color          ask neighbors\n"
              "ranks edges degree\n");
  for (uint32_t degree : {6u, 26u})
    for (uint32_t ranks : {8u, 16u, 32u, 64u})
      compare(ranks, degree);
}

} // namespace
} // namespace colldsl::bench

int main() { colldsl::bench::compareAll(); }
