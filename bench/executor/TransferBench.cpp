// The gain of the attributes of messages between two ranks of a machine. Two ranks send to each
// other through a plan whose messages have no attribute, and through plans that differ only in
// attributes, in turns, in the same processes.
//
//   memory    own: of each process; shared: mapped by both
//   data      new: the sender writes all of it before each run, the receiver reads all of it
//   ns/run    median over the rounds, of rank 0; [best]
//   ratio     of medians, to the plan without attributes
//   slots     messages through the FIFO, per run and rank
//   calls     single copies of the kernel, per run and rank
//   naps      other calls of the kernel: wake-ups, sleeps, yields
//
//   bench-transfers [ROUNDS]
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "executor/Plan.h"
#include "protocol/local/LocalEndpoint.h"
#include "tests/executor/Schedules.h"
#include "transports/shm/ShmBootstrap.h"

#include <cstdarg>
#include <mutex>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {
uint64_t numCopies = 0, numOthers = 0; // calls of this process
}

extern "C" {
// The linker puts these in place of the calls of the library.
ssize_t __real_process_vm_readv(pid_t, const iovec *, unsigned long, const iovec *, unsigned long,
                                unsigned long);
ssize_t __wrap_process_vm_readv(pid_t pid, const iovec *local, unsigned long locals,
                                const iovec *remote, unsigned long remotes, unsigned long flags) {
  ++numCopies;
  return __real_process_vm_readv(pid, local, locals, remote, remotes, flags);
}
ssize_t __real_process_vm_writev(pid_t, const iovec *, unsigned long, const iovec *, unsigned long,
                                 unsigned long);
ssize_t __wrap_process_vm_writev(pid_t pid, const iovec *local, unsigned long locals,
                                 const iovec *remote, unsigned long remotes, unsigned long flags) {
  ++numCopies;
  return __real_process_vm_writev(pid, local, locals, remote, remotes, flags);
}
int __real_sched_yield();
int __wrap_sched_yield() {
  ++numOthers;
  return __real_sched_yield();
}
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  ++numOthers;
  long a[6];
  va_list list;
  va_start(list, number);
  for (long &argument : a)
    argument = va_arg(list, long);
  va_end(list);
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}

namespace colldsl::bench {
namespace {

using protocol::LocalEndpoint;
using protocol::LocalWorker;
using protocol::RankGroup;

struct Variant {
  const char *name;
  Transfer transfer;
};
const Variant kVariants[] = {
    {"no attribute", {}},
    {"via static", {.protocol = Protocol::Static}},
    {"via static writer", {.protocol = Protocol::Static, .mover = Mover::Writer}},
    {"via static canary", {.protocol = Protocol::Static, .canary = true}},
    {"via rendezvous", {.protocol = Protocol::Rendezvous}},
    {"mover writer", {.mover = Mover::Writer}},
};
constexpr size_t kNumVariants = std::size(kVariants);

/// Figures of one variant at one length.
struct Figures {
  std::vector<double> ns;
  double slots = 0, copies = 0, others = 0;
};

Schedule exchangeWith(const Transfer &transfer) {
  Schedule schedule = test::exchange();
  for (Dag &dag : schedule.ranks)
    for (Op &op : dag.ops)
      if (op.kind == OpKind::Send || op.kind == OpKind::Recv)
        op.transfer = transfer;
  return schedule;
}

/// One rank with all plans of one length.
class Exchanges {
public:
  Exchanges(LocalWorker &worker, Endpoint &endpoint, uint64_t bytes, bool isShared)
      : worker_(worker), engine_(endpoint), bytes_(bytes), isShared_(isShared) {
    x_ = allocate();
    y_ = allocate();
    uint64_t n = bytes / sizeof(int32_t);
    for (size_t v = 0; v < kNumVariants; ++v) {
      images_.emplace_back(exchangeWith(kVariants[v].transfer));
      auto opened = Plan::open(engine_, images_[v]->rank(endpoint.rank()), images_[v]->sizeClass(),
                               {n, {{x_, bytes}, {y_, bytes}}, {}});
      if (!opened)
        fail(opened.message());
      plans_.push_back(opened.take());
    }
  }
  ~Exchanges() {
    plans_.clear();
    for (std::byte *memory : {x_, y_}) {
      if (isShared_)
        worker_.release(memory);
      else
        std::free(memory);
    }
  }

  void measure(size_t variant, uint32_t runs, Figures &figures) {
    LocalSideCounts before = counts();
    figures.ns.push_back(nsPerCall(runs, [&] { run(*plans_[variant]); }));
    LocalSideCounts after = counts();
    figures.slots = static_cast<double>(after.slots - before.slots) / runs;
    figures.copies = static_cast<double>(after.copies - before.copies) / runs;
    figures.others = static_cast<double>(after.others - before.others) / runs;
  }

  std::string transfers(size_t variant) const { return plans_[variant]->transfers().inWords(); }

private:
  struct LocalSideCounts {
    uint32_t slots;
    uint64_t copies, others;
  };

  std::byte *allocate() const {
    void *memory = isShared_ ? worker_.allocate(bytes_)
                             : std::aligned_alloc(4096, (bytes_ + 4095) & ~uint64_t{4095});
    if (!memory)
      fail("no memory");
    std::memset(memory, 1, bytes_);
    return static_cast<std::byte *>(memory);
  }

  LocalSideCounts counts() const {
    return {worker_.sendsTo(Rank{1 - index(worker_.rank())})->wire().numSlots(), numCopies,
            numOthers};
  }

  // Both ranks count their runs alike.
  void run(Plan &plan) {
    std::memset(x_, static_cast<int>(++turn_ & 0x7f), bytes_);
    if (!plan.start() || !plan.wait(std::chrono::seconds(20)))
      fail("a run failed: " + plan.status().message());
    for (uint64_t i = 0; i < bytes_; i += 64)
      if (y_[i] != static_cast<std::byte>(turn_ & 0x7f))
        fail("wrong data");
    if (y_[bytes_ - 1] != static_cast<std::byte>(turn_ & 0x7f))
      fail("wrong data at the end");
  }

  LocalWorker &worker_;
  Engine engine_;
  uint64_t bytes_;
  bool isShared_;
  std::byte *x_, *y_;
  uint32_t turn_ = 0;
  std::vector<test::LoadedImage> images_;
  std::vector<std::unique_ptr<Plan>> plans_;
};

void print(uint64_t bytes, bool isShared, const Exchanges &exchanges,
           const std::vector<Figures> &figures) {
  double usual = median(figures[0].ns);
  for (size_t v = 0; v < kNumVariants; ++v) {
    const Figures &f = figures[v];
    double ns = median(f.ns), best = *std::min_element(f.ns.begin(), f.ns.end());
    std::printf("%8llu  %-6s  %-17s  %9.0f [%9.0f]  %5.2f  %6.2f  %6.2f  %6.2f  %s\n",
                static_cast<unsigned long long>(bytes), isShared ? "shared" : "own",
                kVariants[v].name, ns, best, ns / usual, f.slots, f.copies, f.others,
                exchanges.transfers(v).c_str());
  }
  std::fflush(stdout);
}

void measureAll(LocalWorker &worker, Endpoint &endpoint, uint64_t bytes, bool isShared,
                int rounds) {
  Exchanges exchanges(worker, endpoint, bytes, isShared);
  auto runs = static_cast<uint32_t>(std::clamp<uint64_t>((8 << 20) / (bytes + 512), 20, 4000));
  std::vector<Figures> figures(kNumVariants);
  for (int round = 0; round < rounds; ++round)
    for (size_t v = 0; v < kNumVariants; ++v)
      exchanges.measure(v, runs, figures[v]);
  if (endpoint.rank() == Rank{0})
    print(bytes, isShared, exchanges, figures);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  auto world = shm::World::create(2);
  if (!world)
    fail(world.message());
  std::printf("   bytes  memory  messages              ns/run [     best]  ratio   slots   calls   "
              "naps  executed\n");
  std::fflush(stdout);
  ForkOptions fork;
  fork.numRanks = 2;
  fork.bindToCores = true;
  auto outcomes = forkRanks(fork, [&](Rank rank) -> Result<std::vector<std::byte>> {
    if (Status s = shm::exchangePids(**world, rank); !s)
      return s;
    LocalWorker worker(**world, rank, {});
    std::mutex mutex;
    LocalEndpoint endpoint(worker, RankGroup::ofAll(2, rank), &mutex);
    for (bool isShared : {false, true})
      for (uint64_t bytes : {8, 512, 2048, 4096, 8192, 16384, 32768, 65536, 262144, 1048576})
        measureAll(worker, endpoint, bytes, isShared, rounds);
    return std::vector<std::byte>();
  });
  require(std::move(outcomes));
  return 0;
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) { return colldsl::bench::main(argc, argv); }
