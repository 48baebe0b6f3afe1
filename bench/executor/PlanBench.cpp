// The costs of plans, against the least that the machine allows.
//
//   exchange   8 bytes there and back between two ranks through a plan, against a flag
//              that goes there and back through two cache lines, in turns, same processes
//   local      a chain of dependent 8-byte copies; independent ones; restarts
//   oversubscribed
//              a barrier with four ranks per core
//   large      one message by size, in fragments and by single copy
//
// Every figure is a median and, in brackets, the best: on a machine that has other work to
// do, the best is closer to the truth.
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "executor/Plan.h"
#include "runtime/job/LocalRanks.h"
#include "tests/executor/Schedules.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace colldsl::bench {
namespace {

using test::Builder;
using test::LoadedImage;

using Doubles = std::vector<double>;

// Rank 0's figures.
using Body = std::function<Doubles(Endpoint &)>;
Doubles onRanks(uint32_t numRanks, const shm::Options &shm, bool bind, const Body &body) {
  LocalOptions options;
  options.numRanks = numRanks;
  options.bindToCores = bind;
  options.shm = shm;
  auto outcomes = runLocalRanks(
      options, [&](Endpoint &e) -> Result<std::vector<std::byte>> { return pack(body(e)); });
  return unpack<double>(require(std::move(outcomes))[0]);
}

Schedule pingPong() {
  Builder b(2);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
  b.send(Rank{0}, Rank{1}, {b.block(x, 0)});
  b.recv(Rank{0}, Rank{1}, {b.block(y, 0)});
  OpId got = b.recv(Rank{1}, Rank{0}, {b.block(y, 0)});
  b.send(Rank{1}, Rank{0}, {b.block(y, 0)}, {test::after(got)});
  return b.schedule;
}

// A plan and its two buffers of n elements.
struct Bound {
  Bound(Endpoint &endpoint, const Schedule &schedule, size_t n)
      : image(schedule), engine(endpoint), x(n, 1), y(n) {
    auto opened = Plan::open(engine, image->rank(endpoint.rank()), image->sizeClass(),
                             {n, {{x.data(), n * 4}, {y.data(), n * 4}}, {}});
    if (!opened)
      fail(opened.message());
    plan = opened.take();
  }
  void run() {
    if (!plan->start() || !plan->wait())
      fail("a run failed");
  }
  LoadedImage image;
  Engine engine;
  std::vector<int32_t> x, y;
  std::unique_ptr<Plan> plan;
};

// Median and best of the rounds.
Doubles summary(const Doubles &rounds) {
  return {median(rounds), *std::min_element(rounds.begin(), rounds.end())};
}

void exchange() {
  Flags &flags = Flags::shared();
  Doubles both = onRanks(2, {}, true, [&flags](Endpoint &endpoint) {
    constexpr uint32_t kCalls = 500;
    Bound bound(endpoint, pingPong(), 2);
    Doubles bare, plan;
    uint32_t turn = 0;
    for (int round = 0; round < 401; ++round) {
      bare.push_back(nsPerCall(kCalls, [&] { flags.pass(endpoint.rank(), ++turn); }));
      plan.push_back(nsPerCall(kCalls, [&] { bound.run(); }));
    }
    Doubles a = summary(bare), b = summary(plan);
    return Doubles{a[0], a[1], b[0], b[1]};
  });
  std::printf("exchange  bare flag %.0f (%.0f) ns, plan %.0f (%.0f) ns, there and back; "
              "ratio %.2f (%.2f)\n",
              both[0], both[1], both[2], both[3], both[2] / both[0], both[3] / both[1]);
}

Schedule copies(uint32_t count, bool dependent) {
  Builder b(1);
  BufferId x = b.buffer(BufferRole::In, 1), y = b.buffer(BufferRole::Out, 1);
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<Dep> deps;
    if (dependent && i > 0)
      deps.push_back(test::after(OpId{i - 1}));
    b.copy(Rank{0}, {b.block(x, 0)}, {b.block(y, 0)}, deps);
  }
  return b.schedule;
}

// Times the copies of copies() without a plan, through a list of addresses.
Doubles bareCopies(uint32_t count) {
  int64_t x = 1, y = 0;
  std::vector<LocalPiece> pieces(
      count, {reinterpret_cast<std::byte *>(&y), reinterpret_cast<std::byte *>(&x), 8});
  Doubles rounds;
  for (int round = 0; round < 101; ++round)
    rounds.push_back(nsPerCall(10000 / count + 1,
                               [&] {
                                 for (const LocalPiece &piece : pieces)
                                   std::memmove(piece.target, piece.source, piece.bytes);
                               }) /
                     count);
  return summary(rounds);
}

void local() {
  Doubles bare = bareCopies(10000);
  std::printf("local            bare copies of 8 bytes: %.1f (%.1f) ns per op\n", bare[0], bare[1]);
  for (bool dependent : {true, false})
    for (uint32_t count : {1, 10, 1000, 10000}) {
      Doubles ns = onRanks(1, {}, true, [=](Endpoint &endpoint) {
        Bound bound(endpoint, copies(count, dependent), 2);
        Doubles rounds;
        for (int round = 0; round < 101; ++round)
          rounds.push_back(nsPerCall(10000 / count + 1, [&] { bound.run(); }) / count);
        return summary(rounds);
      });
      std::printf("local     %6u %s copies of 8 bytes: %.1f (%.1f) ns per op\n", count,
                  dependent ? "dependent" : "independent", ns[0], ns[1]);
    }
}

void oversubscribed() {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  auto numRanks = static_cast<uint32_t>(4 * cores);
  for (bool bind : {false, true}) {
    Doubles us = onRanks(numRanks, {}, bind, [=](Endpoint &endpoint) {
      Bound bound(endpoint, test::disseminationBarrier(numRanks), 1);
      Doubles all;
      for (int i = 0; i < 2000; ++i)
        all.push_back(nsPerCall(1, [&] { bound.run(); }) / 1000);
      std::sort(all.begin(), all.end());
      return Doubles{all[all.size() / 2], all[all.size() * 99 / 100]};
    });
    std::printf("oversubscribed barrier of %u ranks on %ld cores%s: median %.1f us, 99%% %.1f us\n",
                numRanks, cores, bind ? ", bound" : "", us[0], us[1]);
  }
}

Doubles oneWayUs(size_t bytes, const shm::Options &options) {
  return onRanks(2, options, true, [=](Endpoint &endpoint) {
    Bound bound(endpoint, pingPong(), bytes / 4);
    Doubles rounds;
    for (int round = 0; round < 41; ++round)
      rounds.push_back(nsPerCall(bytes > 1 << 18 ? 1 : 20, [&] { bound.run(); }) / 2000);
    return summary(rounds);
  });
}

void large() {
  shm::Options copies, single;
  copies.singleCopy = shm::SingleCopy::Off;
  single.singleCopyMinBytes = 1;
  for (size_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 2) {
    Doubles twice = oneWayUs(bytes, copies), once = oneWayUs(bytes, single);
    std::printf("large     %8zu bytes: fragments %8.1f (%.1f) us, single copy %8.1f (%.1f) us, "
                "ratio %.2f (%.2f)\n",
                bytes, twice[0], twice[1], once[0], once[1], twice[0] / once[0],
                twice[1] / once[1]);
  }
}

struct Part {
  const char *name;
  void (*run)();
};
constexpr Part kParts[] = {
    {"exchange", exchange}, {"local", local}, {"oversubscribed", oversubscribed}, {"large", large}};

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (const auto &part : colldsl::bench::kParts) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i)
      wanted |= std::strcmp(argv[i], part.name) == 0;
    if (wanted)
      part.run();
  }
}
