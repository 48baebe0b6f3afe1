// The costs of making one rank's DAG, and of proving a whole program.
//   FirstRank     one rank out of 2^20, nothing warm           bound: 20 us
//   ManyRanks     consecutive ranks out of 2^20, or as many as the name says
//                 bound: 1 us + 50 ns per op, of a ring 50 ns per op;
//                 "of bound" is the measured time over it
//                 The ring along the machine looks at all places of a tree on each rank; its
//                 baseline is allgather_ring, whose order is that of the ranks; no bound yet
//   TorusNeighbors  as ManyRanks, for ranks of a torus of 256 x 256
//   ProveRing     ring allgather on 128 ranks: compile, instantiate all ranks, prove
//                 bound: 1 s (MSCCLang needs 145 s to compile it)
#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "verifier/Verifier.h"

#include <benchmark/benchmark.h>
#include <cstdlib>

using namespace colldsl;

namespace {

Compilation &stdlib() {
  static Compilation compilation = compileFiles({});
  return compilation;
}

InstantiateRequest request(const char *name, uint32_t ranks) {
  InstantiateRequest r;
  r.collective = stdlib().program().find(name, DeclKind::Collective);
  r.ranks = ranks;
  r.elements = 1'000'000;
  return r;
}

void require(bool condition) {
  if (!condition)
    std::abort();
}

void firstRank(benchmark::State &state, const char *name, uint32_t rank) {
  for (auto _ : state) {
    Dag dag;
    Instantiator instantiator(stdlib().program(), request(name, 1u << 20));
    require(instantiator.instantiate(Rank{rank}, dag).ok());
    benchmark::DoNotOptimize(dag.ops.data());
  }
}

void manyRanks(benchmark::State &state, const InstantiateRequest &request, double nsPerRank) {
  uint32_t ranks = request.ranks;
  Instantiator instantiator(stdlib().program(), request);
  Dag dag;
  uint64_t ops = 0, made = 0;
  uint32_t rank = 0;
  for (auto _ : state) {
    require(instantiator.instantiate(Rank{rank}, dag).ok());
    rank = (rank + 1) % ranks;
    ops += dag.size();
    ++made;
  }
  state.SetItemsProcessed(static_cast<int64_t>(ops));
  double boundNs = nsPerRank * static_cast<double>(made) + 50.0 * static_cast<double>(ops);
  state.counters["ops per rank"] = static_cast<double>(ops) / static_cast<double>(made);
  // Shown by the library as a rate per second of measured time: 1e9 / that is ns over bound.
  state.counters["of bound"] =
      benchmark::Counter(boundNs * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void manyRanks(benchmark::State &state, const char *name, uint32_t ranks, double nsPerRank = 1000) {
  manyRanks(state, request(name, ranks), nsPerRank);
}

/// Each of 256 x 256 ranks with its four neighbours.
void torusNeighbors(benchmark::State &state) {
  InstantiateRequest r = request("neighbor_alltoall", 1u << 16);
  static const Result<ExprId> torus = stdlib().addArgument(r.collective, "g", "torus([256, 256])");
  require(torus.ok());
  r.arguments = {*torus};
  manyRanks(state, r, 1000);
}

void proveRing(benchmark::State &state) {
  for (auto _ : state) {
    Compilation compilation = compileFiles({});
    InstantiateRequest r;
    r.collective = compilation.program().find("allgather_ring", DeclKind::Collective);
    r.ranks = 128;
    r.elements = 1001;
    Result<Schedule> schedule = instantiateAll(compilation.program(), r);
    require(schedule.ok());
    Sizes sizes;
    sizes.elements = r.elements;
    require(proof::verify(*schedule, {sizes}).proved());
  }
}

} // namespace

BENCHMARK_CAPTURE(firstRank, bcast_binomial_root, "bcast_binomial", 0)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(firstRank, barrier_dissemination, "barrier_dissemination", 77)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(manyRanks, bcast_binomial, "bcast_binomial", 1u << 20);
BENCHMARK_CAPTURE(manyRanks, barrier_dissemination, "barrier_dissemination", 1u << 20);
BENCHMARK_CAPTURE(manyRanks, allreduce_recursive_doubling, "allreduce_recursive_doubling",
                  1u << 20);
BENCHMARK_CAPTURE(manyRanks, allreduce_recursive_doubling_65536, "allreduce_recursive_doubling",
                  1u << 16);
BENCHMARK_CAPTURE(manyRanks, allgather_bruck_65536, "allgather_bruck", 1u << 16);
BENCHMARK(torusNeighbors);
BENCHMARK_CAPTURE(manyRanks, allgather_ring_1024, "allgather_ring", 1024, 0);
BENCHMARK_CAPTURE(manyRanks, allgather_ring_65536, "allgather_ring", 1u << 16, 0);
BENCHMARK_CAPTURE(manyRanks, allgather_distance_ring_384, "allgather_distance_ring", 384, 0);
BENCHMARK_CAPTURE(manyRanks, allreduce_ring_4096, "allreduce_ring", 1u << 12, 0);
BENCHMARK(proveRing)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
