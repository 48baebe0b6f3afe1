// Edge coloring of ten million edges: the optimal one beside Welsh and Powell's greedy one, and the
// check that the order of the edges is a coloring. Memory is the peak of the process.
#include "tests/passes/Graphs.h"

#include <benchmark/benchmark.h>

#include <sys/resource.h>

namespace colldsl {
namespace {

constexpr size_t kEdges = 10'000'000;

void color(benchmark::State &state, EdgeColors (*algorithm)(const PortGraph &),
           const PortGraph &graph) {
  uint32_t rounds = 0;
  for (auto _ : state) {
    EdgeColors colors = algorithm(graph);
    rounds = colors.rounds;
    benchmark::DoNotOptimize(colors.color.data());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * graph.numEdges()));
  state.counters["rounds"] = rounds;
  state.counters["degree"] = highestDegree(graph);
  state.counters["MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void randomPorts(benchmark::State &state, EdgeColors (*algorithm)(const PortGraph &)) {
  auto degree = static_cast<uint32_t>(state.range(0));
  color(state, algorithm, randomGraph(static_cast<uint32_t>(kEdges / degree), degree, 1));
}

void powerLaw(benchmark::State &state, EdgeColors (*algorithm)(const PortGraph &)) {
  color(state, algorithm, powerLawGraph(1'000'000, kEdges, 1));
}

/// As many edges as ranks gather by default.
void largestGathered(benchmark::State &state) {
  color(state, colorOptimally, randomGraph(1 << 15, 1 << 5, 1));
}

/// Slot k of each port is the same shift.
PortGraph shifts(uint32_t degree) {
  auto ports = static_cast<uint32_t>(kEdges / degree);
  PortGraph graph{ports, ports, {}, {}};
  for (uint32_t port = 0; port < ports; ++port)
    for (uint32_t k = 0; k < degree; ++k)
      graph.add(port, (port + 7 * k + 1) % ports);
  return graph;
}

void inOrder(benchmark::State &state) {
  color(
      state, [](const PortGraph &graph) { return colorInOrder(graph).value_or(EdgeColors{}); },
      shifts(static_cast<uint32_t>(state.range(0))));
}

BENCHMARK(largestGathered)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK(inOrder)->Arg(4)->Arg(31)->Arg(1000)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(randomPorts, optimal, colorOptimally)
    ->Arg(4)
    ->Arg(31)
    ->Arg(1000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(randomPorts, welshPowell, colorGreedily)
    ->Arg(4)
    ->Arg(31)
    ->Arg(1000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(powerLaw, optimal, colorOptimally)->Iterations(1)->Unit(benchmark::kSecond);

} // namespace
} // namespace colldsl

BENCHMARK_MAIN();
