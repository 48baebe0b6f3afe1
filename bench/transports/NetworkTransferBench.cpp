// The gain of the attributes of messages over a network: ranks of this machine run plans that
// differ only in attributes, in turns, in the same processes.
//
//   pattern   there-back: rank 0 sends to rank 1, which sends back; rank 0 posts its receive first
//             broadcast: rank 0 sends to each of 7 others, and waits for a signal of each
//             exchange: two ranks send to each other as neighbourhood collectives of the MPI
//             backend do between nodes; memory stays registered with cdag_static_buffers
//   us/run    median over the rounds, of rank 0; [best]
//   ratio     of medians, to the plan without attributes
//   sent      of rank 0, per run: frames, and writes or reads of memory
//   came      to rank 0, per run: frames, and notifications of writes
//   calls     of the kernel by rank 0, per run: write, read, ioctl, poll, ppoll, sched_yield
//
//   bench-network-transfers verbs|PROVIDER [ROUNDS [RUNS]]
#include "bench/executor/Measure.h"
#include "bench/executor/Ranks.h"
#include "executor/Plan.h"
#include "executor/RemoteExchange.h"
#include "passes/RtrTree.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "runtime/job/LocalRanks.h"
#include "tests/executor/Schedules.h"
#include "transports/ofi/OfiTransport.h"
#include "transports/verbs/VerbsTransport.h"

#include <cstdarg>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
uint64_t numKernelCalls = 0; // of this process
}

// In place of those of libc, also for libraries that are loaded.
extern "C" {
ssize_t write(int file, const void *from, size_t bytes) {
  ++numKernelCalls;
  return syscall(SYS_write, file, from, bytes);
}
ssize_t read(int file, void *to, size_t bytes) {
  ++numKernelCalls;
  return syscall(SYS_read, file, to, bytes);
}
int ioctl(int file, unsigned long request, ...) {
  ++numKernelCalls;
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  return static_cast<int>(syscall(SYS_ioctl, file, request, argument));
}
int poll(pollfd *files, nfds_t count, int ms) {
  ++numKernelCalls;
  return static_cast<int>(syscall(SYS_poll, files, count, ms));
}
int ppoll(pollfd *files, nfds_t count, const timespec *atMost, const sigset_t *signals) {
  ++numKernelCalls;
  timespec left = atMost ? *atMost : timespec();
  return static_cast<int>(
      syscall(SYS_ppoll, files, count, atMost ? &left : nullptr, signals, sizeof(uint64_t)));
}
int sched_yield() noexcept {
  ++numKernelCalls;
  return static_cast<int>(syscall(SYS_sched_yield));
}
}

namespace colldsl::bench {
namespace {

using protocol::NetworkEndpoint;
using test::after;
using test::afterStartOf;

constexpr uint32_t kReceivers = 7;

struct Counts {
  double frames = 0, moves = 0, framesCame = 0, notified = 0, calls = 0;

  Counts operator-(const Counts &o) const {
    return {frames - o.frames, moves - o.moves, framesCame - o.framesCame, notified - o.notified,
            calls - o.calls};
  }
};
Counts counted; // of this process

struct CountedVerbs final : verbs::Calls {
  int postSend(ibv_qp *pair, ibv_send_wr *first, ibv_send_wr **refused) override {
    for (ibv_send_wr *one = first; one; one = one->next)
      ++(one->opcode == IBV_WR_SEND ? counted.frames : counted.moves);
    return Calls::postSend(pair, first, refused);
  }
  int pollQueue(ibv_cq *queue, int count, ibv_wc *completions) override {
    int found = Calls::pollQueue(queue, count, completions);
    for (int i = 0; i < found; ++i) {
      counted.framesCame += completions[i].opcode == IBV_WC_RECV;
      counted.notified += completions[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM;
    }
    return found;
  }
};

struct CountedOfi final : ofi::Calls {
  ssize_t send(fid_ep *ep, const void *from, size_t bytes, void *desc, fi_addr_t to,
               void *context) override {
    return count(counted.frames, Calls::send(ep, from, bytes, desc, to, context));
  }
  ssize_t inject(fid_ep *ep, const void *from, size_t bytes, fi_addr_t to) override {
    return count(counted.frames, Calls::inject(ep, from, bytes, to));
  }
  ssize_t read(fid_ep *ep, const fi_msg_rma &message) override {
    return count(counted.moves, Calls::read(ep, message));
  }
  ssize_t write(fid_ep *ep, const fi_msg_rma &message, uint64_t flags) override {
    return count(counted.moves, Calls::write(ep, message, flags));
  }
  ssize_t readQueue(fid_cq *queue, fi_cq_data_entry *entries, size_t most) override {
    ssize_t found = Calls::readQueue(queue, entries, most);
    for (ssize_t i = 0; i < found; ++i) {
      counted.framesCame += (entries[i].flags & FI_RECV) != 0;
      counted.notified += (entries[i].flags & FI_REMOTE_CQ_DATA) != 0;
    }
    return found;
  }
  static ssize_t count(double &what, ssize_t code) {
    what += code == 0;
    return code;
  }
};

struct Variant {
  const char *name;
  Transfer transfer;
  bool isAnnounced = false; ///< by the schedule's other messages
};
constexpr Transfer kStatic{.protocol = Protocol::Static};
constexpr Transfer kCanary{.protocol = Protocol::Static, .canary = true};
const Variant kVariants[] = {
    {"no attribute", {}},
    {"via rendezvous", {.protocol = Protocol::Rendezvous}},
    {"mover reader", {.protocol = Protocol::Rendezvous, .mover = Mover::Reader}},
    {"static", kStatic},
    {"static canary", kCanary},
    {"announced", kStatic, true},
    {"announced canary", kCanary, true},
};
constexpr size_t kNumVariants = std::size(kVariants);

void setTransfers(Schedule &schedule, const Transfer &transfer) {
  for (Dag &dag : schedule.ranks)
    for (Op &op : dag.ops)
      if (op.kind == OpKind::Send || op.kind == OpKind::Recv)
        op.transfer = transfer;
}

// The message back is announced by the message there.
Schedule thereAndBack(const Variant &variant) {
  test::Builder b(2);
  BufferId x = b.buffer(BufferRole::InOut, 1), y = b.buffer(BufferRole::Out, 1);
  OpId back = b.recv(Rank{0}, Rank{1}, {b.block(y, 0)});
  b.send(Rank{0}, Rank{1}, {b.block(x, 0)}, {afterStartOf(back)});
  OpId there = b.recv(Rank{1}, Rank{0}, {b.block(x, 0)});
  OpId reply = b.send(Rank{1}, Rank{0}, {b.block(x, 0)}, {after(there)});
  setTransfers(b.schedule, variant.transfer);
  b.schedule.ranks[0].ops[index(back)].transfer.announced = variant.isAnnounced;
  b.schedule.ranks[1].ops[index(reply)].transfer.announced = variant.isAnnounced;
  return b.schedule;
}

// Announced by a tree of notices.
Schedule broadcast(const Variant &variant) {
  uint32_t ranks = kReceivers + 1;
  test::Builder b(ranks);
  BufferId x = b.buffer(BufferRole::InOut, 1), y = b.buffer(BufferRole::Out, 1);
  for (uint32_t r = 1; r < ranks; ++r) {
    b.send(Rank{0}, Rank{r}, {b.block(x, 0)});
    OpId recv = b.recv(Rank{r}, Rank{0}, {b.block(y, 0)});
    b.signal(Rank{r}, Rank{0}, {after(recv)});
    b.wait(Rank{0}, Rank{r});
  }
  setTransfers(b.schedule, variant.transfer);
  if (!variant.isAnnounced)
    return b.schedule;
  RtrTree tree;
  tree.degree = 2;
  Topology flat = Topology::flat(ranks);
  std::vector<Sizes> sizes;
  CostModel cost;
  Result<DagOutcome> announced = addRtrTrees(b.schedule, tree, {flat, sizes, cost});
  if (!announced)
    fail(announced.message());
  return std::move(announced.take().schedule);
}

struct Pattern {
  const char *name;
  uint32_t ranks;
  Schedule (*make)(const Variant &);
};
const Pattern kPatterns[] = {{"there-back", 2, thereAndBack},
                             {"broadcast", kReceivers + 1, broadcast}};

/// One rank with all plans of one length.
class Plans {
public:
  Plans(Endpoint &endpoint, const Pattern &pattern, uint64_t bytes)
      : endpoint_(endpoint), engine_(endpoint), x_(bytes), y_(bytes) {
    for (const Variant &variant : kVariants) {
      images_.emplace_back(pattern.make(variant));
      auto opened =
          Plan::open(engine_, images_.back()->rank(endpoint.rank()), images_.back()->sizeClass(),
                     {bytes / sizeof(int32_t), {{x_.data(), bytes}, {y_.data(), bytes}}, {}});
      if (!opened)
        fail(opened.message());
      plans_.push_back(opened.take());
    }
  }

  /// Each run has other data.
  void run(size_t variant, uint32_t runs) {
    Plan &plan = *plans_[variant];
    for (uint32_t i = 0; i < runs; ++i) {
      auto what = static_cast<std::byte>(++turn_);
      bool isRoot = endpoint_.rank() == Rank{0};
      if (isRoot)
        std::fill(x_.begin(), x_.end(), what);
      if (!plan.start() || !plan.wait(std::chrono::seconds(60)))
        fail("a run failed: " + plan.status().message());
      const std::vector<std::byte> &got = isRoot == (endpoint_.numRanks() == 2) ? y_ : x_;
      if (got.front() != what || got.back() != what)
        fail("wrong data");
    }
  }
  std::string transfers(size_t variant) const { return plans_[variant]->transfers().inWords(); }

private:
  Endpoint &endpoint_;
  Engine engine_;
  std::vector<std::byte> x_, y_;
  uint32_t turn_ = 0;
  std::vector<test::LoadedImage> images_;
  std::vector<std::unique_ptr<Plan>> plans_;
};

struct Figures {
  std::vector<double> us;
  Counts counts;
};

/// Measures what `run(variant)` does `runs` times, in turns.
template <typename Run> std::vector<Figures> inTurns(size_t variants, int rounds, Run run) {
  std::vector<Figures> figures(variants);
  for (int round = -1; round < rounds; ++round)
    for (size_t v = 0; v < variants; ++v) {
      Counts before = counted;
      before.calls = static_cast<double>(numKernelCalls);
      double ns = nsPerCall(1, [&] { run(v); });
      Counts now = counted;
      now.calls = static_cast<double>(numKernelCalls);
      if (round < 0) // one-time setup
        continue;
      figures[v].us.push_back(ns / 1000);
      figures[v].counts = now - before;
    }
  return figures;
}

void printRow(const char *pattern, uint64_t bytes, const char *variant, const Figures &figures,
              double usual, uint32_t runs, const std::string &executed) {
  const auto &[us, c] = figures;
  double best = *std::min_element(us.begin(), us.end());
  std::printf("%-10s  %7llu  %-16s  %8.1f [%8.1f]  %5.2f  %6.2f %6.2f  %6.2f %6.2f  %7.2f  %s\n",
              pattern, static_cast<unsigned long long>(bytes), variant, median(us) / runs,
              best / runs, median(us) / usual, c.frames / runs, c.moves / runs, c.framesCame / runs,
              c.notified / runs, c.calls / runs, executed.c_str());
  std::fflush(stdout);
}

void measure(Endpoint &endpoint, const Pattern &pattern, uint64_t bytes, int rounds,
             uint32_t runs) {
  Plans plans(endpoint, pattern, bytes);
  std::vector<Figures> figures =
      inTurns(kNumVariants, rounds, [&](size_t v) { plans.run(v, runs); });
  for (size_t v = 0; v < kNumVariants && endpoint.rank() == Rank{0}; ++v)
    printRow(pattern.name, bytes, kVariants[v].name, figures[v], median(figures[0].us), runs,
             plans.transfers(v));
}

/// An exchange of two ranks, in a stream of its own.
class Neighbors {
public:
  Neighbors(Endpoint &endpoint, uint64_t bytes, uint32_t stream, bool keepsMemory)
      : endpoint_(endpoint), sent_(bytes), got_(bytes),
        exchange_(static_cast<protocol::RemoteEndpoint &>(endpoint).worker(),
                  protocol::RankGroup::ofAll(2, endpoint.rank()), stream, keepsMemory) {
    Rank peer{1 - index(endpoint.rank())};
    iovec out{sent_.data(), bytes}, in{got_.data(), bytes};
    exchange_.send(peer, {&out, 1});
    exchange_.recv(peer, {&in, 1});
    if (Status s = exchange_.open(); !s)
      fail(s.message());
  }

  void run(uint32_t runs) {
    for (uint32_t i = 0; i < runs; ++i) {
      auto what = static_cast<std::byte>(++number_);
      std::fill(sent_.begin(), sent_.end(), what);
      exchange_.start(number_);
      for (uint32_t vain = 1; !exchange_.isDone(); ++vain)
        if (!exchange_.progress() && vain % 20 == 0)
          sleepIfIdle();
      if (Status s = exchange_.finish(); !s)
        fail(s.message());
      if (got_.front() != what || got_.back() != what)
        fail("wrong data");
    }
  }

private:
  void sleepIfIdle() {
    WakeupEpoch epoch = endpoint_.armSleep();
    if (!exchange_.progress() && !exchange_.isDone())
      endpoint_.sleep(epoch, std::chrono::milliseconds(5));
  }

  Endpoint &endpoint_;
  std::vector<std::byte> sent_, got_;
  RemoteExchange exchange_;
  uint32_t number_ = 0;
};

void measureExchange(Endpoint &endpoint, uint64_t bytes, int rounds, uint32_t runs) {
  constexpr uint32_t kStream = 1 << 20; // plans are far from having so many
  constexpr const char *kNames[] = {"no info key", "static buffers"};
  std::vector<std::unique_ptr<Neighbors>> exchanges;
  for (uint32_t keeps : {0, 1})
    exchanges.push_back(std::make_unique<Neighbors>(endpoint, bytes, kStream + keeps, keeps != 0));
  std::vector<Figures> figures =
      inTurns(exchanges.size(), rounds, [&](size_t v) { exchanges[v]->run(runs); });
  for (size_t v = 0; v < figures.size() && endpoint.rank() == Rank{0}; ++v)
    printRow("exchange", bytes, kNames[v], figures[v], median(figures[0].us), runs, "");
}

Result<std::unique_ptr<Endpoint>> join(shm::World &world, Rank rank, const std::string &provider) {
  static CountedVerbs countedVerbs;
  static CountedOfi countedOfi;
  if (provider == "verbs") {
    NetworkSettings settings("verbs", "", NetworkSettings::From::TextAndEnvironment);
    Result<verbs::Options> options = verbs::readOptions(settings);
    if (!options)
      return options.status();
    return protocol::attach(world, rank, *options,
                            verbs::VerbsTransport::open(world.numRanks(), *options, countedVerbs));
  }
  ofi::Options options;
  options.provider = provider;
  return protocol::attach(world, rank, options, ofi::OfiTransport::open(options, countedOfi));
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: bench-network-transfers verbs|PROVIDER [ROUNDS [RUNS]]\n");
    return 2;
  }
  std::string provider = argv[1];
  int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  auto runs = static_cast<uint32_t>(argc > 3 ? std::atoi(argv[3]) : 100);
  std::printf("pattern       bytes  messages            us/run [    best]  ratio    sent  moves  "
              "  came notif.    calls  executed\n");
  std::fflush(stdout);
  for (const Pattern &pattern : kPatterns) {
    LocalOptions local;
    local.numRanks = pattern.ranks;
    local.timeout = std::chrono::seconds(600);
    local.attach = [&](shm::World &world, Rank rank) { return join(world, rank, provider); };
    auto outcomes = runLocalRanks(local, [&](Endpoint &endpoint) -> Result<std::vector<std::byte>> {
      for (uint64_t bytes : {64, 2048, 16384, 65536, 262144})
        measure(endpoint, pattern, bytes, rounds, runs);
      for (uint64_t bytes : {65536, 262144, 1048576})
        if (pattern.ranks == 2)
          measureExchange(endpoint, bytes, rounds, runs);
      return std::vector<std::byte>();
    });
    require(std::move(outcomes));
  }
  return 0;
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) { return colldsl::bench::main(argc, argv); }
