#include "transports/datagram/MulticastSender.h"

#include "transports/datagram/Pace.h"

#include <algorithm>
#include <cassert>

namespace colldsl::datagram {
namespace {

// The most bytes sent and not acknowledged: the sockets of members surely hold them. The root
// requests acknowledgements so often that they do not fill up.
constexpr uint64_t kFlightBytes = 128 << 10;
constexpr uint32_t kBytesPerAck = kFlightBytes / 4;
// The resends of a frame to all after which the group moves. If each third part gets lost, a part
// is lost so often in a row with a probability of 2e-16.
constexpr uint32_t kMaxResends = 32;
constexpr uint32_t kMaxMissedInRow = 16;

} // namespace

bool MulticastSender::isFull() const {
  return next_ - base_ == kMulticastChannels ||
         (flightBytes_ != 0 && flightBytes_ + kMulticastBodyBytes > kFlightBytes);
}

// Reclaims channels first, because the member that the root waited for may have left.
bool MulticastSender::hasRoom() {
  if (isFull())
    reclaim();
  return !isFull();
}

MulticastChannel &MulticastSender::append(std::span<const std::byte> head,
                                          std::span<const std::byte> body,
                                          const network::MulticastFlags &flags) {
  MulticastChannel &channel = channels_[next_ % kMulticastChannels];
  channel.number = next_++;
  assert(head.size() <= kMulticastHeadBytes);
  std::copy(head.begin(), head.end(), channel.head.begin());
  channel.headBytes = static_cast<uint32_t>(head.size());
  if (!flags.stays) {
    channel.own.assign(body.begin(), body.end());
    body = channel.own;
  }
  channel.body = body;
  channel.wanted = 0;
  channel.requesters = channel.timesResent = 0;
  flightBytes_ += channel.bytes();
  bytesSinceAck_ += channel.bytes();
  bool endsSet = channel.number % kChannelsPerSet == 0;
  channel.wantsAck = flags.isAwaited || endsSet || bytesSinceAck_ >= kBytesPerAck;
  if (channel.wantsAck)
    bytesSinceAck_ = 0;
  if (flags.isAwaited)
    awaited_ = channel.number;
  return channel;
}

uint32_t MulticastSender::pieces(const MulticastChannel &channel, uint32_t part,
                                 std::array<iovec, 2> &found) const {
  uint32_t begin = part * partBytes_, end = std::min(begin + partBytes_, channel.bytes());
  uint32_t count = 0;
  if (begin < channel.headBytes) {
    uint32_t size = std::min(end, channel.headBytes) - begin;
    found[count++] = {const_cast<std::byte *>(channel.head.data()) + begin, size};
  }
  uint32_t from = std::max(begin, channel.headBytes);
  if (end > from)
    found[count++] = {const_cast<std::byte *>(channel.body.data()) + from - channel.headBytes,
                      end - from};
  return count;
}

void MulticastSender::release() {
  for (uint64_t number = base_; number < next_; ++number) {
    MulticastChannel &kept = channel(number);
    if (kept.body.data() == kept.own.data())
      continue;
    kept.own.assign(kept.body.begin(), kept.body.end());
    kept.body = kept.own;
  }
}

void MulticastSender::reclaim() {
  for (uint64_t acked = this->acked(); base_ < acked; ++base_)
    flightBytes_ -= channel(base_).bytes();
}

bool MulticastSender::takeAck(uint32_t place, uint64_t number) {
  if (place == 0 || place >= tree_.places() || number == 0 || number > next_)
    return false;
  hasProgress_ |= tree_.note(place, number);
  reclaim();
  return true;
}

bool MulticastSender::takeNack(uint32_t place, const MulticastGap &gap, TimeNs now, TimeNs guard) {
  if (place == 0 || place >= tree_.places())
    return false;
  if (gap.number < base_ || gap.number >= next_)
    return gap.number == next_ || gap.number < base_; // nothing was sent, or it has come since
  hasProgress_ = true;
  MulticastChannel &missed = channel(gap.number);
  uint64_t all = maskOf(numParts(missed));
  if (now - missed.sentAt <= guard)
    return true;
  missed.wanted |= gap.parts & all;
  missed.requesters += missed.requesters == 0 || missed.requester != place;
  missed.requester = place;
  wantedFrom_ = std::min(wantedFrom_, gap.number);
  MissedRow &deaf = missedRows_[place];
  if ((gap.parts & all) != all || gap.number <= deaf.number)
    return true;
  deaf.row = gap.number == deaf.number + 1 ? deaf.row + 1 : 1;
  deaf.number = gap.number;
  hasMoved_ |= deaf.row > kMaxMissedInRow;
  return true;
}

MulticastChannel *MulticastSender::takeWanted() {
  for (; wantedFrom_ < next_; ++wantedFrom_) {
    MulticastChannel &found = channel(wantedFrom_);
    if (wantedFrom_ < base_ || found.wanted == 0)
      continue;
    found.timesResent += found.requesters > 1;
    hasMoved_ |= found.timesResent > kMaxResends;
    ++wantedFrom_;
    return &found;
  }
  wantedFrom_ = UINT64_MAX;
  return nullptr;
}

void MulticastSender::noteSent(TimeNs now, TimeNs timeout) {
  probes_ = 0;
  pause_ = isAwaited() ? timeout : lateTimeout(timeout);
  probeAt_ = now + pause_;
}

uint32_t MulticastSender::noteProbe(TimeNs now, TimeNs longestPause) {
  pause_ = std::min(2 * pause_, longestPause);
  probeAt_ = now + pause_;
  return probes_++;
}

uint64_t MulticastSender::bytes() const {
  uint64_t sum = 0;
  for (const MulticastChannel &kept : channels_)
    sum += kept.own.capacity();
  return sum;
}

} // namespace colldsl::datagram
