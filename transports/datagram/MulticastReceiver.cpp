#include "transports/datagram/MulticastReceiver.h"

#include <algorithm>

namespace colldsl::datagram {

bool MulticastReceiver::isWhole(const Slot &slot) const {
  return slot.bytes != 0 && slot.parts == maskOf(partsOf(slot.bytes));
}

// All parts but the last have one length, so that each has its place.
bool MulticastReceiver::take(const MulticastHeader &header, std::span<const std::byte> part) {
  uint32_t count = partsOf(header.bytes), begin = header.part * partBytes_;
  bool isPossible = header.number != 0 && header.number < next_ + kMulticastChannels &&
                    header.bytes != 0 && header.bytes <= multicastFrameBytes(partBytes_) &&
                    header.part < count &&
                    part.size() == std::min(partBytes_, header.bytes - begin);
  if (!isPossible)
    return false;
  if (header.number < next_)
    return true; // it is here
  Slot &slot = slots_[header.number % kMulticastChannels];
  if (slot.bytes != 0 && slot.bytes != header.bytes)
    return false;
  slot.bytes = header.bytes;
  if (slot.memory.size() < header.bytes) {
    slot.memory.reserve(header.bytes); // no more
    slot.memory.resize(header.bytes);
  }
  std::copy(part.begin(), part.end(), slot.memory.begin() + begin);
  slot.parts |= uint64_t{1} << header.part;
  if (std::pair(header.number, header.part + 1u) > std::pair(newest_, newestParts_)) {
    newest_ = header.number;
    newestParts_ = header.part + 1u;
  }
  if (header.wantsAck != 0)
    wanted_ = std::max(wanted_, header.number + 1);
  return true;
}

std::span<const std::byte> MulticastReceiver::front() const {
  const Slot &slot = slots_[next_ % kMulticastChannels];
  return isWhole(slot) ? std::span(slot.memory).first(slot.bytes) : std::span<const std::byte>();
}

void MulticastReceiver::dropFront() {
  Slot &slot = slots_[next_ % kMulticastChannels];
  slot.bytes = 0;
  slot.parts = 0;
  ++next_;
}

bool MulticastReceiver::takeProbe(uint64_t next) {
  if (next == 0 || next > next_ + kMulticastChannels)
    return false;
  if (next > newest_ || (next == newest_ && newestParts_ == 0)) {
    newest_ = next;
    newestParts_ = 0;
  }
  wanted_ = std::max(wanted_, next);
  isProbed_ = true;
  return true;
}

// The missing parts of a frame that is not whole; all bits, if nothing of it is here.
uint64_t MulticastReceiver::missingOf(uint64_t number) const {
  const Slot &slot = slots_[number % kMulticastChannels];
  return slot.bytes == 0 ? ~uint64_t{0} : maskOf(partsOf(slot.bytes)) & ~slot.parts;
}

// Parts after the last one that came may be on their way.
uint64_t MulticastReceiver::missingOfNewest() const {
  return newest_ < next_ ? 0 : missingOf(newest_) & maskOf(newestParts_);
}

uint32_t MulticastReceiver::gaps(std::span<MulticastGap> found) const {
  uint32_t count = 0;
  auto add = [&](uint64_t number, uint64_t parts) {
    if (parts != 0 && count < found.size())
      found[count++] = {number, parts};
  };
  for (uint64_t number = next_; number < newest_; ++number)
    add(number, missingOf(number));
  add(newest_, missingOfNewest());
  if (count == 0)
    add(std::max(next_, newest_), missingOf(std::max(next_, newest_)));
  return count;
}

bool MulticastReceiver::mayNack(TimeNs now, TimeNs guard) {
  if (nackedAt_ != 0 && now - nackedAt_ <= guard)
    return false;
  nackedAt_ = now;
  return true;
}

// Takes the acknowledgement of a place below this rank, which has at most the frames that the root
// has sent.
bool MulticastReceiver::takeAck(uint32_t from, uint64_t number) {
  if (from >= tree_.places() || from == place_ || !tree_.isBelow(from, place_) || number == 0 ||
      number > next_ + kMulticastChannels)
    return false;
  tree_.note(from, number);
  return true;
}

bool MulticastReceiver::owesAck() const {
  uint64_t has = acked();
  return has != 0 && (isProbed_ || (wanted_ > reported_ && has >= wanted_));
}

uint64_t MulticastReceiver::bytes() const {
  uint64_t sum = 0;
  for (const Slot &slot : slots_)
    sum += slot.memory.capacity();
  return sum;
}

} // namespace colldsl::datagram
