#include "protocol/CopyCosts.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace colldsl::protocol {
namespace {

constexpr uint64_t kSizes[] = {4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10};
constexpr uint64_t kLongest = kSizes[std::size(kSizes) - 1];
constexpr int kTries = 8; // the first ones connect, and touch memory

// Of no communicator.
constexpr Tag kTag = {0, 0, 0, 0};

/// One end of the measurement.
class Measurement {
public:
  Measurement(Worker &worker, Rank peer)
      : worker_(worker), sends_(worker.sendsTo(peer)), receives_(worker.receivesFrom(peer)),
        sent_(kLongest), received_(kLongest) {}

  bool canStart() const { return sends_ != nullptr; }

  /// Of some tries the least, for what comes in between only adds; negative: the peer died.
  double leastNs(uint64_t bytes, bool isRewritten) {
    using Clock = std::chrono::steady_clock;
    double least = -1;
    for (int i = 0; i < kTries; ++i) {
      if (isRewritten)
        std::memset(sent_.data(), i, bytes);
      if (!exchange(0)) // both begin together
        return -1;
      Clock::time_point begin = Clock::now();
      if (!exchange(bytes))
        return -1;
      double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
      least = least < 0 ? ns : std::min(least, ns);
      if (isRewritten)
        readAll(bytes);
    }
    return least;
  }

private:
  bool exchange(uint64_t bytes) {
    CompletionCounter counter;
    iovec from{sent_.data(), bytes}, to{received_.data(), bytes};
    Request out = messageOf(from, counter), in = messageOf(to, counter);
    ++run_;
    sends_->send(out);
    receives_.recv(in);
    if (worker_.wait(counter))
      return true;
    worker_.cancel(counter);
    return false;
  }

  Request messageOf(const iovec &piece, CompletionCounter &counter) const {
    Request message;
    message.tag = kTag;
    message.tag.run = run_;
    message.payload = {&piece, 1, true, false, piece.iov_len};
    message.counter = &counter;
    return message;
  }

  // As a program does that uses what it received.
  void readAll(uint64_t bytes) {
    volatile ptrdiff_t zeros = std::count(
        received_.begin(), received_.begin() + static_cast<ptrdiff_t>(bytes), std::byte{});
    (void)zeros;
  }

  Worker &worker_;
  LocalSends *sends_;
  LocalReceives &receives_;
  std::vector<std::byte> sent_, received_;
  uint32_t run_ = 0;
};

CopyCost::Case measureCase(Worker &worker, Measurement &measurement, uint64_t bytes,
                           bool isRewritten) {
  worker.setSingleCopyMin(1);
  double single = measurement.leastNs(bytes, isRewritten);
  worker.setSingleCopyMin(2 * kLongest);
  return {single, single < 0 ? -1 : measurement.leastNs(bytes, isRewritten)};
}

} // namespace

std::vector<CopyCost> measureCopies(Worker &worker, Rank peer) {
  Measurement measurement(worker, peer);
  std::vector<CopyCost> costs;
  const uint64_t before = worker.options().singleCopyMinBytes;
  worker.beginTrial();
  for (uint64_t bytes : kSizes) {
    CopyCost cost{bytes, {-1, -1}, {-1, -1}};
    if (measurement.canStart())
      cost.rewritten = measureCase(worker, measurement, bytes, true);
    if (cost.rewritten.twoCopiesNs >= 0)
      cost.unchanged = measureCase(worker, measurement, bytes, false);
    if (cost.unchanged.twoCopiesNs < 0) {
      costs.clear();
      break;
    }
    costs.push_back(cost);
  }
  worker.setSingleCopyMin(before);
  if (!worker.endTrial())
    costs.clear();
  return costs;
}

std::optional<uint64_t> singleCopyFrom(std::span<const CopyCost> costs) {
  auto isBetter = [](const CopyCost &cost) {
    return cost.rewritten.singleCopyNs * cost.unchanged.singleCopyNs <=
           cost.rewritten.twoCopiesNs * cost.unchanged.twoCopiesNs;
  };
  std::optional<uint64_t> from;
  for (auto cost = costs.rbegin(); cost != costs.rend() && isBetter(*cost); ++cost)
    from = cost->bytes;
  return from;
}

std::optional<uint64_t> measureSingleCopyFrom(Worker &worker, Rank peer) {
  std::vector<CopyCost> costs = measureCopies(worker, peer);
  return costs.empty() ? std::nullopt
                       : std::optional(singleCopyFrom(costs).value_or(kLatestSingleCopy));
}

} // namespace colldsl::protocol
