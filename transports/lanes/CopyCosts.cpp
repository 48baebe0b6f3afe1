#include "transports/lanes/CopyCosts.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace colldsl::lanes {
namespace {

constexpr uint64_t kSizes[] = {4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10};
constexpr uint64_t kLongest = kSizes[std::size(kSizes) - 1];
constexpr int kTries = 8; // the first ones connect, and touch memory

// Of no communicator.
constexpr Key kKey = {0, 0, 0, 0};

/// One end of the measurement.
class Measurement {
public:
  Measurement(Lanes &lanes, Rank peer)
      : lanes_(lanes), sender_(lanes.sender(peer)), receiver_(lanes.receiver(peer)),
        sent_(kLongest), received_(kLongest) {}

  bool canStart() const { return sender_ != nullptr; }

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
    Tally tally;
    iovec from{sent_.data(), bytes}, to{received_.data(), bytes};
    Message out = messageOf(from, tally), in = messageOf(to, tally);
    ++run_;
    sender_->post(out);
    receiver_.post(in);
    if (lanes_.wait(tally))
      return true;
    lanes_.forget(tally);
    return false;
  }

  Message messageOf(const iovec &piece, Tally &tally) const {
    Message message;
    message.key = kKey;
    message.key.run = run_;
    message.payload = {&piece, 1, true, false, piece.iov_len};
    message.tally = &tally;
    return message;
  }

  // As a program does that uses what it received.
  void readAll(uint64_t bytes) {
    volatile ptrdiff_t zeros = std::count(
        received_.begin(), received_.begin() + static_cast<ptrdiff_t>(bytes), std::byte{});
    (void)zeros;
  }

  Lanes &lanes_;
  LaneSender *sender_;
  LaneReceiver &receiver_;
  std::vector<std::byte> sent_, received_;
  uint32_t run_ = 0;
};

CopyCost::Case measureCase(Lanes &lanes, Measurement &measurement, uint64_t bytes,
                           bool isRewritten) {
  lanes.setSingleCopyMin(1);
  double single = measurement.leastNs(bytes, isRewritten);
  lanes.setSingleCopyMin(2 * kLongest);
  return {single, single < 0 ? -1 : measurement.leastNs(bytes, isRewritten)};
}

} // namespace

std::vector<CopyCost> measureCopies(Lanes &lanes, Rank peer) {
  Measurement measurement(lanes, peer);
  std::vector<CopyCost> costs;
  const uint64_t before = lanes.options().singleCopyMinBytes;
  for (uint64_t bytes : kSizes) {
    CopyCost cost{bytes, {-1, -1}, {-1, -1}};
    if (measurement.canStart())
      cost.rewritten = measureCase(lanes, measurement, bytes, true);
    if (cost.rewritten.twoCopiesNs >= 0)
      cost.unchanged = measureCase(lanes, measurement, bytes, false);
    if (cost.unchanged.twoCopiesNs < 0) {
      costs.clear();
      break;
    }
    costs.push_back(cost);
  }
  lanes.setSingleCopyMin(before);
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

} // namespace colldsl::lanes
