#include "tools/tune/MeasuredCosts.h"

#include "executor/Plan.h"
#include "ir/RankSchedule.h"
#include "protocol/local/LocalOptions.h"
#include "tools/run/Barrier.h"
#include "tools/tune/Alternation.h"
#include "tools/tune/TimingNoise.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace colldsl::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr uint64_t kSizes[] = {1, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10};
constexpr size_t kNumSizes = std::size(kSizes);
constexpr uint64_t kLongest = kSizes[kNumSizes - 1];
constexpr uint64_t kLeastSingleCopy = kSizes[1];
constexpr uint32_t kTurns = 8;           // of a ping-pong
constexpr uint32_t kFew = 4, kMany = 24; // messages in a row
constexpr uint32_t kRuns = 41, kWakeups = 9;
constexpr uint64_t kShortCopy = 4 << 10, kLongCopy = 512 << 10;
constexpr auto kAsleep = 30ms; // a rank sleeps after a wait of some milliseconds

/// Two ranks, the first of which measures.
struct Pair {
  uint32_t first = 0, second = 0;
};

/// The measurements of a pair by its first rank, in ns.
struct PairTimes {
  double oneWay[kNumSizes] = {};
  double few = 0, many = 0; ///< until that many messages are answered
  double sends = 0;         ///< a send of many, at the sender
  double wakeup = 0;
};

/// The measurements of one rank's own memory, in ns.
struct LocalTimes {
  double shortCopy = 0, longCopy = 0, shortCombine = 0, longCombine = 0;
};

Op message(OpKind kind, uint32_t peer, uint32_t number) {
  Op op;
  op.kind = kind;
  op.peer = Rank{peer};
  op.message = makeMessageId(number, 0);
  return op;
}

Slice bytesOf(BufferId buffer, uint64_t bytes) {
  Slice slice;
  slice.endOffset = static_cast<int64_t>(bytes);
  slice.buffer = buffer;
  return slice;
}

BufferId addBuffer(Dag &dag, BufferRole role, uint64_t elements, ElementType type) {
  Buffer buffer;
  buffer.endOffset = static_cast<int64_t>(elements);
  buffer.role = role;
  buffer.type = type;
  return dag.addBuffer(buffer);
}

/// The messages between two ranks, for `turns` turns: `inRow` messages of the first one in a row,
/// then an answer.
Dag messagesOf(Rank self, const Pair &pair, uint64_t bytes, uint32_t inRow, uint32_t turns) {
  Dag dag;
  bool isFirst = index(self) == pair.first;
  if (!isFirst && index(self) != pair.second)
    return dag;
  uint32_t peer = isFirst ? pair.second : pair.first;
  BufferId out = addBuffer(dag, BufferRole::In, bytes, ElementType::U8);
  BufferId in = addBuffer(dag, BufferRole::Out, bytes, ElementType::U8);
  Slice from = bytesOf(out, bytes), to = bytesOf(in, bytes);
  std::vector<Dep> before;
  uint32_t numbers[2] = {0, 0}; // of sends, of receives
  for (uint32_t turn = 0; turn < 2 * turns; ++turn) {
    bool sends = (turn % 2 == 0) == isFirst;
    uint32_t count = turn % 2 == 0 ? inRow : 1; // the answer is one message
    std::vector<Dep> these;
    for (uint32_t i = 0; i < count; ++i)
      these.push_back(
          {sends ? dag.add(message(OpKind::Send, peer, numbers[0]++), {&from, 1}, {}, before)
                 : dag.add(message(OpKind::Recv, peer, numbers[1]++), {}, {&to, 1}, before)});
    before = std::move(these);
  }
  return dag;
}

/// Measures on one rank, with the buffers for it.
class CostMeter {
public:
  explicit CostMeter(Endpoint &endpoint)
      : rank_(endpoint.rank()), ranks_(endpoint.numRanks()), engine_(endpoint), a_(kLongCopy, 1),
        b_(kLongCopy, 1) {}

  Status openBarrier() {
    Schedule schedule = barrierSchedule(ranks_);
    barrierSchedule_ = RankSchedule(rank_, std::move(schedule.ranks[index(rank_)]), {});
    auto plan = Plan::open(engine_, barrierSchedule_.view(), {}, {});
    if (!plan)
      return plan.status();
    barrier_ = plan.take();
    return {};
  }

  Result<PairTimes> measure(const Pair &pair, bool isWhole) {
    PairTimes times;
    Status s;
    for (size_t i = 0; i < kNumSizes && s; ++i)
      if (s = run(messagesOf(rank_, pair, kSizes[i], 1, kTurns), kSizes[i], {}, times.oneWay[i]); s)
        times.oneWay[i] /= 2 * kTurns;
    if (s && isWhole)
      s = run(messagesOf(rank_, pair, 1, kFew, 1), 1, {}, times.few);
    if (s && isWhole)
      s = run(messagesOf(rank_, pair, 1, kMany, 1), 1, {}, times.many);
    if (s && isWhole) {
      bool isFirst = index(rank_) == pair.first;
      s = run(messagesOf(rank_, pair, 1, 1, 1), 1, isFirst ? kAsleep : 0ms, times.wakeup, kWakeups);
    }
    if (!s)
      return s;
    return times;
  }

  Result<LocalTimes> measureSelf() {
    LocalTimes times;
    Status s = run(localOp(OpKind::Copy, kShortCopy), kShortCopy, {}, times.shortCopy);
    if (s)
      s = run(localOp(OpKind::Copy, kLongCopy), kLongCopy, {}, times.longCopy);
    if (s)
      s = run(localOp(OpKind::Combine, kShortCopy), kShortCopy, {}, times.shortCombine);
    if (s)
      s = run(localOp(OpKind::Combine, kLongCopy), kLongCopy, {}, times.longCombine);
    if (!s)
      return s;
    return times;
  }

private:
  Dag localOp(OpKind kind, uint64_t bytes) const {
    Dag dag;
    uint64_t elements = bytes / sizeof(double);
    BufferId x = addBuffer(dag, BufferRole::In, elements, ElementType::F64);
    BufferId y = addBuffer(dag, BufferRole::InOut, elements, ElementType::F64);
    Slice from = bytesOf(x, elements), to = bytesOf(y, elements);
    Op op;
    op.kind = kind;
    op.type = ElementType::F64;
    dag.add(op, {&from, 1}, {&to, 1}, {});
    return dag;
  }

  /// Collective. Measures the lowest decile of the times of runs, each of which begins with a
  /// barrier and a pause; the pause does not count.
  Status run(Dag dag, uint64_t bytes, std::chrono::milliseconds pause, double &ns,
             uint32_t runs = kRuns) {
    RankSchedule schedule(rank_, std::move(dag), SizeClass{});
    Binding binding;
    for (size_t b = 0; b < schedule.dag().buffers.size(); ++b)
      binding.buffers.push_back({b == 0 ? a_.data() : b_.data(), bytes});
    auto plan = Plan::open(engine_, schedule.view(), schedule.sizeClass(), binding);
    if (!plan)
      return plan.status();
    RoundTimes times;
    for (uint32_t i = 0; i < runs; ++i) {
      std::memset(a_.data(), static_cast<int>(i % 16), bytes);
      if (Status s = finish(*barrier_); !s)
        return s;
      std::this_thread::sleep_for(pause);
      Clock::time_point begin = Clock::now();
      if (Status s = finish(**plan); !s)
        return s;
      times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    }
    // The lowest decile: other work of the machine is no cost of a message.
    auto low = times.begin() + static_cast<ptrdiff_t>(times.size() / 10);
    std::nth_element(times.begin(), low, times.end());
    ns = *low;
    return {};
  }

  static Status finish(Plan &plan) {
    if (Status s = plan.start(); !s)
      return s;
    return plan.wait(kCallTimeout);
  }

  Rank rank_;
  uint32_t ranks_;
  Engine engine_;
  std::vector<char> a_, b_;
  RankSchedule barrierSchedule_;
  std::unique_ptr<Plan> barrier_;
};

/// A pair of ranks for each distance class. One of the two is among the first 64 ranks.
std::array<std::optional<Pair>, kMaxDistance + 1> pairsOf(const Topology &topology) {
  std::array<std::optional<Pair>, kMaxDistance + 1> pairs;
  uint32_t ranks = topology.numRanks();
  for (uint32_t a = 0; a < std::min(ranks, 64u); ++a)
    for (uint32_t b = a + 1; b < ranks; ++b) {
      // Ranks that share a core are as far apart as others of the same cache.
      unsigned distance = std::max(topology.distance(Rank{a}, Rank{b}), 1u);
      if (!pairs[distance])
        pairs[distance] = Pair{a, b};
    }
  return pairs;
}

/// The results of one launch; the ranks connect once for all of them.
struct Measured {
  std::vector<PairTimes> pairs; ///< in the order of the pairs, each by its first rank
  LocalTimes local;             ///< by rank 0
};

/// Measures on one rank and packs the result: its own times, then those of the pairs.
Result<std::vector<std::byte>> measureOn(Endpoint &endpoint, const std::vector<Pair> &pairs,
                                         bool isWhole) {
  CostMeter meter(endpoint);
  if (Status s = meter.openBarrier(); !s)
    return s;
  std::vector<std::byte> bytes;
  auto append = [&](const auto &times) {
    auto more = std::as_bytes(std::span(&times, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  Result<LocalTimes> local = isWhole ? meter.measureSelf() : LocalTimes();
  if (!local)
    return local.status();
  append(*local);
  for (const Pair &pair : pairs) {
    Result<PairTimes> times = meter.measure(pair, isWhole);
    if (!times)
      return times.status();
    append(*times);
  }
  return bytes;
}

/// `isWhole`: false measures messages alone.
Result<Measured> measureOnAll(const std::vector<Pair> &pairs, uint32_t ranks,
                              const LaunchOptions &options, bool isWhole) {
  auto returned = onAllRanks(
      ranks, options, [&](Endpoint &endpoint) { return measureOn(endpoint, pairs, isWhole); });
  if (!returned)
    return returned.status();
  Measured all;
  std::memcpy(&all.local, returned->front().data(), sizeof all.local);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::vector<std::byte> &bytes = (*returned)[pairs[i].first];
    std::memcpy(&all.pairs.emplace_back(), &bytes[sizeof all.local + i * sizeof(PairTimes)],
                sizeof(PairTimes));
  }
  return all;
}

/// The greatest difference of two measurements, except for wakeups: the kernel determines their
/// times, and no choice depends on these.
double apartOf(const Measured &a, const Measured &b) {
  double most = 0;
  auto compare = [&](double x, double y) { most = std::max(most, apart(x, y)); };
  for (size_t pair = 0; pair < a.pairs.size(); ++pair) {
    for (size_t i = 0; i < kNumSizes; ++i)
      compare(a.pairs[pair].oneWay[i], b.pairs[pair].oneWay[i]);
    compare(a.pairs[pair].few, b.pairs[pair].few);
    compare(a.pairs[pair].many, b.pairs[pair].many);
  }
  compare(a.local.shortCopy, b.local.shortCopy);
  compare(a.local.longCopy, b.local.longCopy);
  compare(a.local.shortCombine, b.local.shortCombine);
  compare(a.local.longCombine, b.local.longCombine);
  return most;
}

/// Measures on all ranks until two measurements agree.
class SteadyCosts {
public:
  SteadyCosts(uint32_t ranks, double noiseLimit) : ranks_(ranks), noiseLimit_(noiseLimit) {}

  Result<Measured> measure(const std::vector<Pair> &pairs, const LaunchOptions &options,
                           bool isWhole) const {
    return measureUntilAgreed(
        noiseLimit_, [&] { return measureOnAll(pairs, ranks_, options, isWhole); }, apartOf);
  }

private:
  uint32_t ranks_;
  double noiseLimit_;
};

/// The rate from the times of a short and a long operation.
MemoryRate rateOf(double shortNs, double longNs) {
  double perByte = std::max(longNs - shortNs, 0.0) / static_cast<double>(kLongCopy - kShortCopy);
  double latency = std::max(shortNs - perByte * static_cast<double>(kShortCopy), 0.0);
  return {static_cast<uint64_t>(latency), PerByte::fromNs(perByte)};
}

double perByteOf(const PairTimes &times) {
  return std::max(times.oneWay[kNumSizes - 1] - times.oneWay[0], 0.0) /
         static_cast<double>(kLongest - 1);
}

/// A message of one byte takes o + L + o; one of many in a row o, or g if that is more.
LogGop parametersOf(const PairTimes &times, unsigned distance) {
  LogGop p;
  double each = std::max(times.many - times.few, 0.0) / (kMany - kFew);
  double o = std::min(each, times.oneWay[0] / 3);
  p.o = static_cast<uint64_t>(o);
  p.g = static_cast<uint64_t>(each);
  p.L = static_cast<uint64_t>(std::max(times.oneWay[0] - 2 * o, 0.0));
  p.G = PerByte::fromNs(perByteOf(times));
  p.O = distance < kOtherNode ? p.G : PerByte(); // memory is moved by processors
  p.S = protocol::LocalOptions().rendezvousThresholdBytes;
  return p;
}

/// The least size from which on the kernel's copies are faster at all sizes; 0: there is none.
uint64_t singleCopyFrom(const PairTimes &kernel, const PairTimes &shared) {
  size_t from = kNumSizes;
  while (from > 1 && kernel.oneWay[from - 1] < shared.oneWay[from - 1])
    --from;
  return from < kNumSizes ? kSizes[from] : 0;
}

/// Copies the costs of the nearest measured class to each class that was not measured. Classes on
/// the same side of the boundary of a node are nearer than all others.
void fillIn(const std::array<std::optional<Pair>, kMaxDistance + 1> &pairs, MachineModel &model) {
  auto nearest = [&](unsigned distance) {
    int best = -1;
    for (int d = 1; d <= static_cast<int>(kMaxDistance); ++d) {
      auto far = [&](int to) {
        bool isOther = (static_cast<unsigned>(to) >= kOtherNode) != (distance >= kOtherNode);
        return std::abs(to - static_cast<int>(distance)) + (isOther ? 100 : 0);
      };
      if (pairs[static_cast<size_t>(d)] && (best < 0 || far(d) < far(best)))
        best = d;
    }
    return static_cast<size_t>(best);
  };
  for (unsigned d = 1; d <= kMaxDistance; ++d)
    if (!pairs[d])
      model.distances[d] = model.distances[nearest(d)];
  LogGop self; // a copy
  self.L = 0;
  self.o = self.g = model.copy.shortest.latencyNs;
  self.G = self.O = model.copy.shortest.perByte;
  self.S = UINT64_MAX;
  model.distances[0] = self;
}

/// Compares messages through shared memory with those that the kernel copies.
Status compareCopies(const Pair &pair, const SteadyCosts &costs, const LaunchOptions &options,
                     MachineProfile &profile) {
  LaunchOptions shared = options, kernel = options;
  shared.transport = TransportKind::Shm;
  kernel.singleCopyMinBytes = kLeastSingleCopy;
  Result<Measured> byKernel = costs.measure({pair}, kernel, false);
  if (!byKernel)
    return byKernel.status();
  Result<Measured> byMemory = costs.measure({pair}, shared, false);
  if (!byMemory)
    return byMemory.status();
  profile.singleCopyFrom = singleCopyFrom(byKernel->pairs.front(), byMemory->pairs.front());
  profile.singleCopy = PerByte::fromNs(perByteOf(byKernel->pairs.front()));
  return {};
}

} // namespace

Status measureCosts(const Topology &topology, const LaunchOptions &options, double noiseLimit,
                    MachineProfile &profile) {
  auto pairs = pairsOf(topology);
  std::vector<Pair> list;
  std::vector<unsigned> distances;
  for (unsigned d = 1; d <= kMaxDistance; ++d)
    if (pairs[d]) {
      list.push_back(*pairs[d]);
      distances.push_back(d);
    }
  if (list.empty())
    return Status::error("costs are measured between ranks: at least two are needed");
  SteadyCosts costs(topology.numRanks(), noiseLimit);
  if (distances.front() < kOtherNode)
    if (Status s = compareCopies(list.front(), costs, options, profile); !s)
      return s;
  Result<Measured> measured = costs.measure(list, options, true);
  if (!measured)
    return measured.status();
  const LocalTimes &local = measured->local;
  MachineModel &model = profile.model;
  model.name = "tuned";
  model.copy.shortest = rateOf(local.shortCopy, local.longCopy);
  model.combine.shortest = rateOf(local.shortCombine, local.longCombine);
  for (size_t i = 0; i < list.size(); ++i)
    model.distances[distances[i]] = parametersOf(measured->pairs[i], distances[i]);
  fillIn(pairs, model);
  const PairTimes &first = measured->pairs.front();
  profile.wakeupNs = static_cast<uint64_t>(std::max(first.wakeup - 2 * first.oneWay[0], 0.0));
  return {};
}

} // namespace colldsl::tools
