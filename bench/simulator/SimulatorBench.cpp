// The speed of the event loop, and of the steps before it. usage: bench-simulator [NAME[:RANKS]...]
//   dissemination  barrier on 65,536 ranks            bound: 20 million events/s
//                  LogGOPSim: 0.6 to 1.8 million; 3.3 s and 456 MB for 3.1 million events,
//                  and 4.2 s before that to write and convert the file
//   binomial       broadcast on 65,536 ranks          bound: 20 million events/s
//                  LogGOPSim: 0.13 s for 197 thousand events, 1.5 million events/s
//   alltoall       everybody to everybody, 1,024 ranks, 8 B
//                                                     bound: 10 million events/s
//                  LogGOPSim: 1554 s, 2 thousand events/s
//   noise          dissemination with random noise    bound: 5 million events/s
//   million        dissemination on 2^20 ranks, 63 million events
//                                                     bound: 5 s, 2 GB, no file
//                  LogGOPSim: 113 s, 7.7 GB, and a file of 1.6 GB
// Processor time, best of three, as the peer was measured (user CPU, -O3, on machines like this
// one); peer.py runs the peer beside us. The event loop is timed apart from making the ranks (by
// two threads) and joining messages. The simulated times are checked against the closed form where
// there is one.
#include "bench/executor/Measure.h"
#include "compiler/Compile.h"
#include "passes/PackProgram.h"
#include "simulator/Simulate.h"

#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>

using namespace colldsl;

namespace {

struct Bench {
  const char *name;
  const char *collective;
  uint32_t ranks;
  uint64_t elements;
  bool noise;
  double boundMillion; ///< events per second
  uint64_t makespan;   ///< by the closed form; 0: there is none
  double peerMillion;
};

const Bench kBenches[] = {
    {"dissemination", "barrier_dissemination", 1 << 16, 2, false, 20, 16 * 5500, 0.95},
    {"binomial", "bcast_binomial", 1 << 16, 2, false, 20, 88672, 1.5},
    {"alltoall", "alltoall_rotated", 1 << 10, 2, false, 10, 3111966, 0.002},
    {"noise", "barrier_dissemination", 1 << 16, 2, true, 5, 0, 0},
    {"million", "barrier_dissemination", 1 << 20, 2, false, 63.0 / 5, 20 * 5500, 0.56},
};

void require(bool condition, const std::string &why) {
  if (condition)
    return;
  std::fprintf(stderr, "bench-simulator: %s\n", why.c_str());
  std::exit(1);
}

void run(const Compilation &stdlib, const Bench &bench, int repeats) {
  InstantiateRequest request;
  request.collective = stdlib.program().find(bench.collective, DeclKind::Collective);
  require(request.collective != kNoDecl, std::string("there is no ") + bench.collective);
  request.ranks = bench.ranks;
  request.elements = bench.elements;
  sim::SimulateOptions options;
  if (bench.noise) {
    options.noise.kind = sim::NoiseOptions::Kind::Random;
    options.noise.periodNs = 10'000;
    options.noise.lengthNs = 250;
  }
  double made = 1e18, ran = 1e18; // ns
  uint64_t events = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double begin = bench::processorNs();
    Result<sim::Workload> workload = packProgram(stdlib.program(), request, {}, 2);
    require(workload.ok(), workload.message());
    made = std::min(made, bench::processorNs() - begin);
    begin = bench::processorNs();
    Result<sim::Outcome> outcome = sim::simulate(*workload, options);
    ran = std::min(ran, bench::processorNs() - begin);
    require(outcome.ok(), outcome.message());
    require(bench.makespan == 0 || outcome->makespan == bench.makespan,
            std::string(bench.name) + " ends at " + std::to_string(outcome->makespan) +
                " ns, not at " + std::to_string(bench.makespan));
    events = outcome->events;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  double rate = static_cast<double>(events) / ran * 1e3;
  std::printf("%-14s %8u ranks %6.1f M events: made in %6.3f s, run in %6.3f s, %5.1f M events/s "
              "(bound %.1f, peer %.3f), %.2f GB at most\n",
              bench.name, bench.ranks, static_cast<double>(events) * 1e-6, made * 1e-9, ran * 1e-9,
              rate, bench.boundMillion, bench.peerMillion,
              static_cast<double>(usage.ru_maxrss) * 1024e-9);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  Compilation stdlib = compileFiles({});
  for (const Bench &bench : kBenches) {
    if (argc == 1)
      run(stdlib, bench, 3);
    for (int i = 1; i < argc; ++i) {
      std::string word = argv[i];
      size_t colon = word.find(':');
      if (word.substr(0, colon) != bench.name)
        continue;
      Bench other = bench;
      if (colon != std::string::npos) {
        other.ranks = static_cast<uint32_t>(std::atoi(word.c_str() + colon + 1));
        other.makespan = 0;
      }
      run(stdlib, other, colon == std::string::npos ? 3 : 1);
    }
  }
  return 0;
}
