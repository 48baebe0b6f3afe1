// The cost of an exchange, against the least that the machine allows.
//
//   two ranks on cores of their own; each sends `parts` blocks to the other and receives
//   as many, in one run. Blocks are written before and read after each run, within the time,
//   since either may find that the other rank has the lines. The baseline is a flag that goes there
//   and back, halved, for small blocks, and a memcpy of the same bytes from the other's memory for
//   large ones.
//
// Medians of rounds, in nanoseconds per run. Arguments, all optional: the least and the largest
// block in bytes, and `own` or `shared`.
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "executor/Exchange.h"

#include <csignal>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace colldsl::bench {
namespace {

void bindToCore(uint32_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

class TwoRanks {
public:
  TwoRanks(shm::World &world, Rank me, Flags &flags) : worker_(world, me), me_(me), flags_(flags) {}

  double bareFlagNs(uint32_t calls) {
    return nsPerCall(calls, [&] { flags_.pass(me_, ++turns_); }) / 2;
  }

  // Blocks of memory that both ranks share, or of their own.
  void measure(uint32_t parts, uint64_t bytes, bool isShared) {
    std::byte *memory = allocate(2 * parts * bytes, isShared);
    Rank peer{1 - index(me_)};
    Exchange exchange(worker_, 1, stream_++);
    for (uint32_t i = 0; i < parts; ++i) {
      iovec out{memory + i * bytes, bytes}, in{memory + (parts + i) * bytes, bytes};
      exchange.send(peer, {&out, 1});
      exchange.recv(peer, {&in, 1});
    }
    if (!exchange.seal())
      _exit(1);
    auto calls = static_cast<uint32_t>(
        std::clamp<uint64_t>(uint64_t{200000000} / (parts * bytes), 50, 20000));
    std::vector<double> rounds, flags;
    uint32_t run = 0;
    for (int round = 0; round < 11; ++round) {
      flags.push_back(bareFlagNs(1000));
      rounds.push_back(nsPerCall(calls, [&] {
        std::memset(memory, static_cast<int>(run), parts * bytes);
        if (!exchange.run(++run))
          _exit(1);
        readAll(memory + parts * bytes, parts * bytes);
      }));
    }
    std::vector<std::byte> copy(parts * bytes);
    double memcpyNs = nsPerCall(calls, [&] { std::memcpy(copy.data(), memory, copy.size()); });
    if (me_ == Rank{0})
      std::printf("%2u x %8llu bytes %-7s %10.1f ns   flag one way %6.1f   memcpy %10.1f\n", parts,
                  static_cast<unsigned long long>(bytes), isShared ? "shared" : "own",
                  median(rounds), median(flags), memcpyNs);
  }

private:
  void readAll(const std::byte *from, uint64_t bytes) {
    uint64_t sum = 0;
    for (uint64_t at = 0, word; at < bytes; at += sizeof word, sum += word)
      std::memcpy(&word, from + at, sizeof word);
    sum_ = sum_ + sum;
  }

  std::byte *allocate(uint64_t bytes, bool isShared) {
    void *memory =
        isShared ? worker_.allocate(bytes) : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    std::memset(memory, 1, bytes);
    return static_cast<std::byte *>(memory);
  }

  protocol::LocalWorker worker_;
  Rank me_;
  Flags &flags_;
  uint32_t turns_ = 0;
  uint32_t stream_ = 0;
  volatile uint64_t sum_ = 0; ///< of all that was received
};

struct Filter {
  uint64_t least = 0, most = UINT64_MAX;
  bool own = true, shared = true;
};

Filter parse(int argc, char **argv) {
  Filter filter;
  if (argc > 1)
    filter.least = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2)
    filter.most = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) {
    filter.own = std::strcmp(argv[3], "shared") != 0;
    filter.shared = std::strcmp(argv[3], "own") != 0;
  }
  return filter;
}

void runRank(shm::World &world, Rank me, Flags &flags, const Filter &filter) {
  bindToCore(index(me));
  world.control(me).pid.store(getpid());
  while (world.control(Rank{1 - index(me)}).pid.load() == 0)
    ;
  TwoRanks ranks(world, me, flags);
  for (bool isShared : {false, true}) {
    if (isShared ? !filter.shared : !filter.own)
      continue;
    for (uint64_t bytes : {8, 64, 256, 512, 1024, 4096, 16384, 32768, 65536, 262144, 1048576})
      if (bytes >= filter.least && bytes <= filter.most)
        for (uint32_t parts : {1, 2, 8})
          ranks.measure(parts, bytes, isShared);
  }
}

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  shm::Options options;
  auto world = shm::World::create(2, options);
  Flags &flags = Flags::shared();
  pid_t child = fork();
  if (child == 0)
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a flag has no other way out
  runRank(**world, Rank{child == 0 ? 1u : 0u}, flags, parse(argc, argv));
  if (child == 0)
    _exit(0);
  waitpid(child, nullptr, 0);
  return 0;
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) { return colldsl::bench::main(argc, argv); }
