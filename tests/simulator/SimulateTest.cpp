// What goes beyond the published rules: closed forms at scale, distance classes, noise, skew,
// networks, receive slots, paths, and what cannot finish.
#include "simulator/Simulate.h"
#include "compiler/Compile.h"
#include "ir/TextForm.h"
#include "passes/PackProgram.h"
#include "simulator/CriticalPath.h"

#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <bit>
#include <gtest/gtest.h>

namespace colldsl::sim {
namespace {

Compilation &stdlib() {
  static Compilation compilation = compileFiles({});
  return compilation;
}

Workload pack(const char *collective, uint32_t ranks, uint64_t elements,
              const WorkloadOptions &options = {}, unsigned threads = 1) {
  InstantiateRequest request;
  request.collective = stdlib().program().find(collective, DeclKind::Collective);
  request.ranks = ranks;
  request.elements = elements;
  request.topology = options.topology;
  Result<Workload> workload = packProgram(stdlib().program(), request, options, threads);
  EXPECT_TRUE(workload.ok()) << workload.message();
  return workload.take();
}

Outcome run(Workload workload, const SimulateOptions &options = {}) {
  Result<Outcome> outcome = simulate(workload, options);
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  return outcome ? outcome.take() : Outcome();
}

Schedule goal(std::string_view text) {
  TextLimits limits;
  limits.allowWildcards = true;
  ParsedText parsed = parseText(text, "text", limits);
  EXPECT_TRUE(parsed.errors.empty()) << parsed.errors.front().message;
  return std::move(parsed.schedule);
}

/// Of a run that fails.
Diagnostic failure(const Schedule &schedule, const SimulateOptions &options = {}) {
  WorkloadOptions packing;
  packing.isPlainGoal = true;
  Result<Workload> workload = packSchedule(schedule, {}, packing);
  if (!workload)
    return workload.status().diagnostic();
  Result<Outcome> outcome = simulate(*workload, options);
  EXPECT_FALSE(outcome.ok());
  return outcome.ok() ? Diagnostic() : outcome.status().diagnostic();
}

std::string words(const Diagnostic &d) {
  std::string text = d.message;
  for (const Diagnostic &note : d.notes)
    text += "\n" + std::to_string(note.loc.line) + ": " + note.message;
  return text;
}

TEST(SimulateTest, broadcastAndDisseminationByClosedForm) {
  for (auto [ranks, ns] : {std::pair(1024u, 55420u), std::pair(8192u, 72046u)})
    EXPECT_EQ(run(pack("bcast_binomial", ranks, 2)).makespan, ns);
  // Signals have no bytes: (2o + L) in each round.
  Outcome barrier = run(pack("barrier_dissemination", 8192, 0, {}, 2));
  EXPECT_EQ(barrier.finish, std::vector<uint64_t>(8192, 13 * 5500));
  EXPECT_EQ(barrier.events, 8192u * 13 * 3);
  for (auto [ranks, ns] : {std::pair(128u, 386334u), std::pair(256u, 775710u)}) {
    Outcome alltoall = run(pack("alltoall_rotated", ranks, 2));
    EXPECT_EQ(alltoall.makespan, ns);
  }
}

TEST(SimulateTest, everyRankFinishesByClosedForm) {
  constexpr uint32_t kRanks = 4096;
  constexpr uint64_t kSendNs = 1500;                       // o, which is more than g + 7 G
  constexpr uint64_t kMessageNs = 2 * 1500 + 2500 + 7 * 6; // 2o + L + 7 G
  constexpr uint64_t kSignalNs = 2 * 1500 + 2500;          // 2o + L
  // A rank's parent lacks its lowest bit, and sends to its largest subtree first.
  std::vector<uint64_t> has(kRanks), finish(kRanks);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    uint32_t parent = rank & (rank - 1);
    uint32_t children = rank == 0 ? 12 : std::countr_zero(rank);
    uint32_t siblings = parent == 0 ? 12 : std::countr_zero(parent);
    if (rank > 0)
      has[rank] = has[parent] + (siblings - 1 - children) * kSendNs + kMessageNs;
    finish[rank] = has[rank] + children * kSendNs;
  }
  EXPECT_EQ(run(pack("bcast_binomial", kRanks, 2)).finish, finish);
  EXPECT_EQ(run(pack("barrier_dissemination", kRanks, 0)).finish,
            std::vector<uint64_t>(kRanks, 12 * kSignalNs));
}

TEST(SimulateTest, megabytesByClosedForm) {
  EXPECT_EQ(run(pack("bcast_binomial", 1024, 1 << 18)).makespan, 62969500u);
  EXPECT_EQ(run(pack("bcast_binomial", 8192, 1 << 18)).makespan, 81860350u);
}

TEST(SimulateTest, scheduleAndProgramAgree) {
  InstantiateRequest request;
  request.collective =
      stdlib().program().find("allreduce_recursive_doubling", DeclKind::Collective);
  request.ranks = 77;
  request.elements = 1000;
  Result<Schedule> schedule = instantiateAll(stdlib().program(), request);
  ASSERT_TRUE(schedule.ok());
  Result<Workload> fromSchedule = packSchedule(*schedule, {}, {});
  ASSERT_TRUE(fromSchedule.ok());
  Outcome expected = run(fromSchedule.take());
  Outcome program = run(pack("allreduce_recursive_doubling", 77, 1000, {}, 3));
  EXPECT_EQ(program.finish, expected.finish);
  EXPECT_EQ(program.events, expected.events);
}

TEST(SimulateTest, distancesHaveTheirOwnParameters) {
  Result<Topology> topology = Topology::make("node:2 core:2", 4);
  ASSERT_TRUE(topology.ok());
  SimulateOptions options;
  options.topology = &*topology;
  options.model.distances[7] = {90000, 10, 0, PerByte(), PerByte(), 0};
  options.model.distances[7].S = 1000;
  options.model.copy.shortest = {5, PerByte::fromNs(0.5)};
  WorkloadOptions packing;
  packing.topology = &*topology;
  EXPECT_EQ(run(pack("barrier_dissemination", 4, 0, packing), options).makespan,
            // Round 0 crosses from rank 1 to 2, round 1 always.
            2 * (90000u + 20));
}

TEST(SimulateTest, copiesTakeTheirTime) {
  MachineModel model;
  model.copy.shortest = {5, PerByte::fromNs(0.5)};
  WorkloadOptions packing;
  packing.model = &model;
  EXPECT_EQ(run(pack("alltoall_rotated", 1, 100, packing)).makespan, 5u + 200);
}

TEST(SimulateTest, periodicNoiseStretchesWork) {
  Schedule schedule = goal("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 100\nb requires a\n}\n");
  WorkloadOptions packing;
  SimulateOptions options;
  options.noise = {NoiseOptions::Kind::Periodic, 50, 10, 20, {}}; // at 20, 70, 120, ...
  Result<Workload> workload = packSchedule(schedule, {}, packing);
  ASSERT_TRUE(workload.ok());
  // 40 ns of work in each 50: 20 before the first detour, then four times 40, then 20.
  EXPECT_EQ(run(workload.take(), options).makespan, 250u);
}

TEST(SimulateTest, noiseTraceIsRepeated) {
  Result<NoiseOptions> trace = parseNoiseTrace("# two detours\nperiod 100\n10 5\n50 10\n");
  ASSERT_TRUE(trace.ok()) << trace.message();
  trace->phaseNs = 0;
  Noise noise(*trace, 1, 0);
  EXPECT_EQ(noise.endOf(0, 0, 10), 10u);
  EXPECT_EQ(noise.endOf(0, 10, 30), 45u);
  EXPECT_EQ(noise.endOf(0, 52, 1), 61u);   // in the middle of one
  EXPECT_EQ(noise.endOf(0, 61, 49), 110u); // up to the next, which does not begin before
  EXPECT_EQ(noise.endOf(0, 110, 1), 116u);
  EXPECT_EQ(noise.endOf(0, 1'000'000'012, 3), 1'000'000'018u); // a long rest is skipped
}

TEST(SimulateTest, noiseTraceMistakes) {
  auto error = [](const char *text) { return parseNoiseTrace(text).message(); };
  EXPECT_EQ(error("1 2\nperiod 0\n"), "noise trace, line 2: a period of 0 ns");
  EXPECT_EQ(error("period 10\n1 2\nperiod 20\n"),
            "noise trace, line 3: the period is given twice, as 10 and 20 ns");
  EXPECT_EQ(error("1 2\nperiod 18446744073709551615\n"),
            "noise trace, line 2: the time is too large");
  EXPECT_EQ(error(""), "noise trace: it has no detours");
  EXPECT_EQ(error("1 2\nx\n"),
            "noise trace, line 2: expected 'BEGIN LENGTH' in ns, or 'period NS'");
  EXPECT_EQ(error("10 5\n12 5\n"),
            "noise trace, line 2: begins at 12 ns, before the detour above ends");
  EXPECT_EQ(error("period 10\n8 5\n"),
            "noise trace: the last detour ends at 13 ns, after the period of 10 ns");
  NoiseOptions full{NoiseOptions::Kind::Periodic, 50, 50, {}, {}};
  EXPECT_FALSE(checkNoise(full).ok());
}

TEST(SimulateTest, seedsDecide) {
  SimulateOptions options;
  options.noise = {NoiseOptions::Kind::Random, 10'000, 500, {}, {}};
  options.skewNs = 2000;
  Outcome first = run(pack("barrier_dissemination", 100, 0), options);
  EXPECT_EQ(run(pack("barrier_dissemination", 100, 0), options).finish, first.finish);
  options.seed = 1;
  EXPECT_NE(run(pack("barrier_dissemination", 100, 0), options).finish, first.finish);
  EXPECT_GT(first.makespan, 7u * 5500);
}

TEST(SimulateTest, networkWithoutContentionOnlyAddsHops) {
  Result<Topology> topology = Topology::make("node:16 core:1", 16);
  ASSERT_TRUE(topology.ok());
  WorkloadOptions packing;
  packing.topology = &*topology;
  SimulateOptions options;
  options.topology = &*topology;
  Schedule schedule = goal("num_ranks 16\nrank 0 {\nsend 8b to 10 tag 0\n}\n"
                           "rank 1 {\n}\nrank 2 {\n}\nrank 3 {\n}\nrank 4 {\n}\nrank 5 {\n}\n"
                           "rank 6 {\n}\nrank 7 {\n}\nrank 8 {\n}\nrank 9 {\n}\nrank 10 {\n"
                           "recv 8b from 0 tag 0\n}\nrank 11 {\n}\nrank 12 {\n}\nrank 13 {\n}\n"
                           "rank 14 {\n}\nrank 15 {\n}\n");
  auto makespan = [&](const char *network) {
    Result<NetworkOptions> parsed = parseNetwork(network, PerByte::fromNs(6));
    EXPECT_TRUE(parsed.ok()) << parsed.message();
    options.network = *parsed;
    Result<Workload> workload = packSchedule(schedule, {}, packing);
    EXPECT_TRUE(workload.ok());
    return run(workload.take(), options).makespan;
  };
  EXPECT_EQ(makespan("torus:4x4"), 5542u + 4 * 100);         // from (0, 0) to (2, 2)
  EXPECT_EQ(makespan("torus:16"), 5542u + 6 * 100);          // the other way round
  EXPECT_EQ(makespan("fattree:4x4,hop=10"), 5542u + 4 * 10); // two up, two down
  EXPECT_EQ(makespan("fattree:16"), 5542u + 2 * 100);
  EXPECT_EQ(makespan("torus:4x4,G=20"), 5542u + 4 * 100 + 7 * 14); // the links are slower
  EXPECT_EQ(makespan("dragonfly:4x2x2"), 5542u + 3 * 100);         // their switches share a link
  EXPECT_EQ(makespan("dragonfly:4x2x2,taper=3"), 5542u + 3 * 100 + 7 * 12);
  EXPECT_EQ(makespan("dragonfly:4x4x1,taper=3"), 5542u + 3 * 100); // no global link
}

TEST(SimulateTest, messagesShareLinks) {
  Result<Topology> topology = Topology::make("node:4 core:1", 4);
  ASSERT_TRUE(topology.ok());
  WorkloadOptions packing;
  packing.topology = &*topology;
  SimulateOptions options;
  options.topology = &*topology;
  // Both pass the link from 1 to 2.
  Schedule schedule = goal("num_ranks 4\nrank 0 {\nsend 1001b to 2 tag 0\n}\n"
                           "rank 1 {\nsend 1001b to 2 tag 0\n}\nrank 2 {\n"
                           "recv 1001b from 0 tag 0 cpu 0\nrecv 1001b from 1 tag 0\n}\n"
                           "rank 3 {\n}\n");
  Result<NetworkOptions> ring = parseNetwork("torus:4,hop=0,G=1000", PerByte());
  ASSERT_TRUE(ring.ok());
  options.network = *ring;
  Result<Workload> workload = packSchedule(schedule, {}, packing);
  ASSERT_TRUE(workload.ok());
  // The second head waits 1001 us for the link, and then 500 ns for the receiver, which the
  // first message keeps busy for the time that its bytes need.
  EXPECT_EQ(run(workload.take(), options).makespan, 4000u + 1001500 + 1001500);
}

TEST(SimulateTest, receiveSlotsStallSenders) {
  // Rank 0 floods rank 1, which is busy, and wants to tell rank 2 something, too.
  Schedule schedule =
      goal("num_ranks 3\nrank 0 {\na: send 8b to 1 tag 0\nb: send 8b to 1 tag 1\n"
           "c: send 8b to 2 tag 0\n}\n"
           "rank 1 {\nbusy: calc 1000000\nrecv 8b from 0 tag 0\nrecv 8b from 0 tag 1\n}\n"
           "rank 2 {\nrecv 8b from 0 tag 0\n}\n");
  auto finish = [&](uint32_t slots) {
    SimulateOptions options;
    options.receiveSlots = slots;
    Result<Workload> workload = packSchedule(schedule, {}, {});
    EXPECT_TRUE(workload.ok());
    return run(workload.take(), options).finish;
  };
  EXPECT_EQ(finish(0)[2], 3 * 1500u + 2500 + 1542);
  EXPECT_EQ(finish(2), finish(0));
  // One slot: b waits until a was taken in and the notice is back, and c stands behind b.
  uint64_t free = 1000000 + 1542 + 2500;
  EXPECT_EQ(finish(1)[2], free + 2 * 1500u + 2500 + 1542);
}

TEST(SimulateTest, pathLeadsFromStartToEnd) {
  Workload workload = pack("bcast_binomial", 8, 2);
  SimulateOptions options;
  options.record = true;
  Result<Outcome> outcome = simulate(workload, options);
  ASSERT_TRUE(outcome.ok());
  Result<std::vector<PathStep>> path = criticalPath(workload, *outcome->recording, 7);
  ASSERT_TRUE(path.ok());
  ASSERT_EQ(path->size(), 8u); // send, message, receive, three times; the last receive is free
  EXPECT_EQ(path->front().cause, Cause::Start);
  EXPECT_EQ(path->front().rank, 0u);
  EXPECT_EQ(path->back().end, outcome->makespan);
  EXPECT_TRUE(path->front().what.loc.known());
  EXPECT_EQ(std::count_if(path->begin(), path->end(),
                          [](const PathStep &step) { return step.cause == Cause::Wire; }),
            3);
}

TEST(SimulateTest, deadlockNamesTheWaitingOps) {
  Diagnostic error = failure(goal("num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 0\n"
                                  "b: send 8b to 1 tag 0\nb requires a\n}\n"
                                  "rank 1 {\na: recv 8b from 0 tag 0\n"
                                  "b: send 8b to 0 tag 0\nb requires a\n}\n"));
  EXPECT_EQ(words(error),
            "deadlock at 0 ns: 4 of 4 ops cannot finish\n"
            "3: rank 0: op 0, recv from rank 1, waits for a message whose send never started\n"
            "8: rank 1: op 0, recv from rank 0, waits for a message whose send never started");
}

TEST(SimulateTest, longSendsNeedTheirReceives) {
  Schedule schedule = goal("num_ranks 2\nrank 0 {\na: send 90000b to 1 tag 0\n"
                           "b: recv 90000b from 1 tag 0\nb requires a\n}\n"
                           "rank 1 {\na: send 90000b to 0 tag 0\n"
                           "b: recv 90000b from 0 tag 0\nb requires a\n}\n");
  EXPECT_EQ(words(failure(schedule)),
            "deadlock at 4000 ns: 4 of 4 ops cannot finish\n"
            "3: rank 0: op 0, send to rank 1, waits for its receive, which never started\n"
            "8: rank 1: op 0, send to rank 0, waits for its receive, which never started");
}

TEST(SimulateTest, endsThatDoNotMeet) {
  EXPECT_EQ(words(failure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\n"
                               "recv 8b from 0 tag 1\n}\n"))),
            "rank 0: op 0, send to rank 1, has no matching receive\n"
            "6: rank 1: op 0, recv from rank 0, has no matching send");
  EXPECT_EQ(words(failure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\n"
                               "recv 9b from 0 tag 0\n}\n"))),
            "rank 0: op 0, send to rank 1, has 8 bytes, its receive (op 0 of rank 1) has 9");
  EXPECT_EQ(words(failure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\n"
                               "recv 9b from -1 tag -1\n}\n"))),
            "rank 0: op 0, send to rank 1, has 8 bytes, and meets rank 1: op 0, recv from any "
            "rank, of 9 bytes\n6: rank 1 receives from rank 0");
  EXPECT_EQ(words(failure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\nsend 8b to 1 tag 0\n}\n"
                               "rank 1 {\nrecv 8b from -1 tag -1\n}\n"))),
            "a message is never received\n"
            "4: rank 0: op 1, send to rank 1, sent a message that is never received");
}

/// Of messages that have numbers.
std::string numberedFailure(const Schedule &schedule) {
  Result<Workload> workload = packSchedule(schedule, {}, {});
  EXPECT_FALSE(workload.ok());
  return workload ? "" : words(workload.status().diagnostic());
}

TEST(SimulateTest, numberedEndsThatDoNotMeet) {
  EXPECT_EQ(numberedFailure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\n"
                                 "recv 8b from 0 tag 1\n}\n")),
            "rank 0: op 0, send to rank 1, has no matching receive\n"
            "6: rank 1: op 0, recv from rank 0, has no matching send");
  EXPECT_EQ(numberedFailure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\n"
                                 "recv 9b from 0 tag 0\n}\n")),
            "rank 0: op 0, send to rank 1, has 8 bytes, its receive (op 0 of rank 1) has 9");
  EXPECT_EQ(numberedFailure(goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\n}\n")),
            "rank 0: op 0, send to rank 1, has no matching receive");
}

TEST(SimulateTest, numbersThatAreNotUnique) {
  Schedule schedule = goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\nsend 8b to 1 tag 1\n}\n"
                           "rank 1 {\nrecv 8b from 0 tag 0\nrecv 8b from 0 tag 1\n}\n");
  Schedule sends = schedule, receives = schedule;
  sends.ranks[0].ops[1].message = sends.ranks[0].ops[0].message;
  EXPECT_EQ(numberedFailure(sends),
            "rank 0: op 1, send to rank 1, has the number of another one to the same rank\n"
            "8: rank 1: op 1, recv from rank 0, has no matching send");
  receives.ranks[1].ops[1].message = receives.ranks[1].ops[0].message;
  EXPECT_EQ(numberedFailure(receives),
            "rank 1: op 1, recv from rank 0, has the number of another one from the same rank\n"
            "4: rank 0: op 1, send to rank 1, has no matching receive\n"
            "8: rank 1: op 1, recv from rank 0, has no matching send");
}

// However many threads look for them.
TEST(SimulateTest, wrongEndsAreReportedInTheOrderOfRanks) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBuffer(
      "collective chain(in x: T[n], out y: T[n]) ensures y == x {\n"
      "  if rank + 1 < ranks { send x to rank + 1; }\n"
      "  if rank > 0 and rank % 100 != 7 { recv y from rank - 1; }\n"
      "  if rank == 8 { recv y from rank; }\n"
      "}\n",
      "chain.coll"));
  Compilation compilation = compileTexts(std::move(files), {});
  InstantiateRequest request;
  ASSERT_TRUE(compilation.ok());
  request.collective = compilation.program().find("chain", DeclKind::Collective);
  request.ranks = 300;
  request.elements = 1;
  for (unsigned threads : {1u, 2u, 5u}) {
    Result<Workload> workload = packProgram(compilation.program(), request, {}, threads);
    ASSERT_FALSE(workload.ok());
    EXPECT_EQ(words(workload.status().diagnostic()),
              "rank 6: op 0, send to rank 7, has no matching receive\n"
              "2: rank 106: op 0, send to rank 107, has no matching receive\n"
              "2: rank 206: op 0, send to rank 207, has no matching receive\n"
              "4: rank 8: op 2, recv from rank 8, has no matching send");
  }
}

TEST(SimulateTest, timesThatCannotBeCounted) {
  Schedule schedule = goal("num_ranks 1\nrank 0 {\ncalc 18446744073709551615\n}\n");
  EXPECT_NE(failure(schedule).message.find("longer than can be counted"), std::string::npos);
}

TEST(SimulateTest, bytesCountEachMessageOnce) {
  Workload workload = pack("allgather_ring", 4, 100); // each rank sends 3 blocks of 400 bytes
  EXPECT_EQ(workload.messages, 12u);
  EXPECT_EQ(static_cast<uint64_t>(workload.bytes), 12u * 400);
}

// The bound on all times counts both ends' work per byte.
TEST(SimulateTest, timesOfBothEndsAreBounded) {
  Schedule schedule = goal("num_ranks 2\nrank 0 {\nsend 2000000000b to 1 tag 0\n}\n"
                           "rank 1 {\nrecv 2000000000b from 0 tag 0\n}\n");
  SimulateOptions options;
  options.model = MachineModel::flat();
  for (LogGop &p : options.model.distances)
    p.G = p.O = PerByte::fromNs(1);
  Workload workload = packSchedule(schedule, {}, {}).take();
  EXPECT_EQ(static_cast<uint64_t>(workload.bytes), 2000000000u);
  EXPECT_GE(run(std::move(workload), options).makespan, 2000000000u);
}

TEST(SimulateTest, aWatcherEndsTheRun) {
  Workload workload = pack("allgather_ring", 512, 1);
  SimulateOptions options;
  uint64_t calls = 0;
  options.watch = [&](uint64_t, uint64_t) { return ++calls < 2; };
  Result<Outcome> outcome = simulate(workload, options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.message(), "the simulation was stopped");
  EXPECT_EQ(calls, 2u);
}

TEST(SimulateTest, packingEndsWhereItIsStopped) {
  std::atomic<bool> stop{true};
  InstantiateRequest request;
  request.collective = stdlib().program().find("allgather_ring", DeclKind::Collective);
  request.ranks = 4;
  request.limits.stop = &stop;
  Result<Workload> workload = packProgram(stdlib().program(), request, {}, 2);
  ASSERT_FALSE(workload.ok());
  EXPECT_EQ(workload.message(), "instantiation was stopped");
}

TEST(SimulateTest, nothingToDo) {
  EXPECT_EQ(run(pack("barrier_dissemination", 1, 0)).makespan, 0u);
  Schedule empty;
  Result<Workload> workload = packSchedule(empty, {}, {});
  ASSERT_TRUE(workload.ok());
  EXPECT_EQ(run(workload.take()).events, 0u);
}

} // namespace
} // namespace colldsl::sim
