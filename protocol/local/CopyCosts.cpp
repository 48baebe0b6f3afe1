#include "protocol/local/CopyCosts.h"

#include "transports/shm/KnownCopySizes.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace colldsl::protocol {
namespace {

constexpr uint64_t kSizes[] = {8 << 10, 16 << 10, 32 << 10, 64 << 10};
constexpr uint64_t kLongest = kSizes[std::size(kSizes) - 1];
constexpr uint64_t kOneWay = 2; // messages, one after the other
constexpr int kTries = 6;       // the first ones connect, and touch memory
// A sender of eager messages goes on, which is worth more than these times show.
constexpr double kLeastGainOneWay = 1.25;

// A tag of no communicator.
constexpr Tag kTag = {0, 0, 0, 0};

/// One end of the measurement.
class Measurement {
public:
  /// Passes messages of so many bytes. False: the peer died.
  using Pass = bool (Measurement::*)(uint64_t bytes);

  Measurement(LocalWorker &worker, Rank peer)
      : worker_(worker), isFirst_(worker.rank() < peer), sends_(worker.sendsTo(peer)),
        receives_(worker.receivesFrom(peer)), sent_(kLongest), received_(kLongest) {}

  bool canStart() const { return sends_ != nullptr; }

  /// Passes one message each way.
  bool exchange(uint64_t bytes) {
    iovec from{sent_.data(), bytes}, to{received_.data(), bytes};
    return post(&from, &to);
  }
  /// Passes messages to the second end, which replies to the last of them.
  bool sendOneWay(uint64_t bytes) {
    for (uint64_t i = 0; i < kOneWay; ++i) {
      iovec from{sent_.data() + i * bytes, bytes}, to{received_.data() + i * bytes, bytes};
      if (!(isFirst_ ? post(&from, nullptr) : post(nullptr, &to)))
        return false;
    }
    iovec none{nullptr, 0};
    return isFirst_ ? post(nullptr, &none) : post(&none, nullptr);
  }

  /// Empty: the peer died, or the kernel does not copy.
  std::vector<CopyCost> measure(Pass pass, uint64_t longest) {
    std::vector<CopyCost> costs;
    for (uint64_t bytes : kSizes) {
      if (bytes > longest)
        break;
      CopyCost cost{bytes, measureCase(pass, bytes, true), {-1, -1}};
      if (cost.rewritten.twoCopiesNs >= 0)
        cost.unchanged = measureCase(pass, bytes, false);
      if (cost.unchanged.twoCopiesNs < 0)
        return {};
      costs.push_back(cost);
    }
    return costs;
  }

private:
  CopyCost::Case measureCase(Pass pass, uint64_t bytes, bool isRewritten) {
    worker_.setCopyLimits({1, 0});
    double single = leastNs(pass, bytes, isRewritten);
    worker_.setCopyLimits({2 * kLongest, UINT32_MAX});
    return {single, single < 0 ? -1 : leastNs(pass, bytes, isRewritten)};
  }

  // The least time of some tries, since interruptions only add to it; negative: the peer died.
  double leastNs(Pass pass, uint64_t bytes, bool isRewritten) {
    using Clock = std::chrono::steady_clock;
    double least = -1;
    for (int i = 0; i < kTries; ++i) {
      if (isRewritten)
        std::memset(sent_.data(), i, touchedBy(bytes));
      if (!exchange(0)) // both begin together
        return -1;
      Clock::time_point begin = Clock::now();
      if (!(this->*pass)(bytes))
        return -1;
      double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
      least = least < 0 ? ns : std::min(least, ns);
      if (isRewritten)
        readAll(touchedBy(bytes));
    }
    return least;
  }

  static uint64_t touchedBy(uint64_t bytes) { return std::min(kOneWay * bytes, kLongest); }

  // Null: nothing is sent, or received.
  bool post(const iovec *from, const iovec *to) {
    CompletionCounter counter;
    ++run_;
    Request out = messageOf(from, counter), in = messageOf(to, counter);
    if (from)
      sends_->send(out);
    if (to)
      receives_.recv(in);
    if (worker_.wait(counter))
      return true;
    worker_.cancel(counter);
    return false;
  }

  Request messageOf(const iovec *piece, CompletionCounter &counter) const {
    Request message;
    message.tag = kTag;
    message.tag.run = run_;
    if (piece)
      message.payload = {piece, 1, true, false, piece->iov_len};
    message.counter = &counter;
    return message;
  }

  // Reads the received bytes, as a program does that uses them.
  void readAll(uint64_t bytes) {
    volatile ptrdiff_t zeros = std::count(
        received_.begin(), received_.begin() + static_cast<ptrdiff_t>(bytes), std::byte{});
    (void)zeros;
  }

  LocalWorker &worker_;
  bool isFirst_;
  LocalSends *sends_;
  LocalReceives &receives_;
  std::vector<std::byte> sent_, received_;
  uint32_t run_ = 0;
};

long timesPreempted() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/// True if no more processes are ready to run than the machine has cores. More of them slow
/// the two ranks down, even if these keep their cores.
bool hasCores() {
  std::ifstream file("/proc/loadavg"); // "0.21 0.18 0.12 3/80 11206": 3 of 80 are ready
  std::string average;
  long ready = 0;
  return (file >> average >> average >> average >> ready) && ready <= sysconf(_SC_NPROCESSORS_ONLN);
}

/// The sizes that quiet machines measured, for a job beside which other work ran.
constexpr shm::CopySizes kUsualSizes = {32 << 10, UINT32_MAX};

} // namespace

CopyCosts measureCopies(LocalWorker &worker, Rank peer) {
  Measurement measurement(worker, peer);
  if (!measurement.canStart())
    return {};
  const LocalOptions &options = worker.options();
  const CopyLimits before{options.singleCopyMinBytes, options.rendezvousThresholdBytes};
  worker.beginTrial();
  CopyCosts costs;
  costs.exchanged = measurement.measure(&Measurement::exchange, kLongest);
  if (!costs.exchanged.empty())
    costs.oneWay = measurement.measure(
        &Measurement::sendOneWay, std::min(options.fifo.longestEagerBytes(), kLongest / kOneWay));
  worker.setCopyLimits(before);
  if (!worker.endTrial())
    return {};
  return costs;
}

std::optional<uint64_t> singleCopyFrom(std::span<const CopyCost> costs, double leastGain) {
  auto isBetter = [leastGain](const CopyCost &cost) {
    return leastGain * cost.rewritten.singleCopyNs * cost.unchanged.singleCopyNs <=
           cost.rewritten.twoCopiesNs * cost.unchanged.twoCopiesNs;
  };
  std::optional<uint64_t> from;
  for (auto cost = costs.rbegin(); cost != costs.rend() && isBetter(*cost); ++cost)
    from = cost->bytes;
  return from;
}

std::optional<CopyLimits> measureCopyLimits(LocalWorker &worker, Rank peer) {
  CopyCosts costs = measureCopies(worker, peer);
  if (costs.exchanged.empty() || costs.oneWay.empty())
    return std::nullopt;
  CopyLimits limits{singleCopyFrom(costs.exchanged).value_or(kLatestSingleCopy), UINT32_MAX};
  if (std::optional<uint64_t> from = singleCopyFrom(costs.oneWay, kLeastGainOneWay))
    limits.rendezvousThresholdBytes = static_cast<uint32_t>(*from - 1);
  return limits;
}

void measureCopySizes(LocalWorker &worker) {
  shm::World &world = worker.world();
  if (!world.measuresCopies() || index(worker.rank()) > 1)
    return;
  bool isQuiet = hasCores();
  long before = timesPreempted();
  std::optional<CopyLimits> limits = measureCopyLimits(worker, Rank{1 - index(worker.rank())});
  if (!limits || worker.rank() != Rank{0})
    return;
  shm::CopySizes sizes = {limits->singleCopyMinBytes, limits->rendezvousThresholdBytes};
  isQuiet = isQuiet && timesPreempted() == before && hasCores();
  world.setCopySizes(isQuiet ? shm::addCopySizes(shm::copySizesPath(), sizes) : kUsualSizes);
}

} // namespace colldsl::protocol
