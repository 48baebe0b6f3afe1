#include "transports/datagram/Flow.h"

#include <bit>

namespace colldsl::datagram {
namespace {

constexpr uint32_t kMaxRoundTripUs = 10'000'000;

uint32_t microseconds(TimeNs time) { return static_cast<uint32_t>(time / 1000); }

} // namespace

OutPacket &OutPackets::take() {
  if (!free_) {
    blocks_.push_back(std::make_unique<OutPacket[]>(kGrowth));
    for (uint32_t i = 0; i < kGrowth; ++i)
      give(blocks_.back()[i]);
  }
  OutPacket &packet = *free_;
  free_ = packet.next;
  packet = {};
  return packet;
}

void Flow::append(network::Frame &frame, OutPackets &pool) {
  uint32_t room = packetBytes - static_cast<uint32_t>(sizeof(PacketHeader));
  for (uint32_t offset = 0; offset < frame.bytes; offset += room) {
    OutPacket &packet = pool.take();
    packet.frame = &frame;
    packet.offset = offset;
    packet.bytes = static_cast<uint16_t>(std::min(room, frame.bytes - offset));
    packet.flags = (offset == 0 ? kFirst : 0) | (offset + packet.bytes == frame.bytes ? kFinal : 0);
    bool isAwaited = flushes_ && expected_ == 0; // else what comes is the acknowledgement
    if (isAwaited && (packet.flags & kFinal) != 0)
      packet.flags |= kWantsReport;
    packet.sequence = given_++;
    (oldest_ ? newest_->next : oldest_) = &packet;
    newest_ = &packet;
    if (!unsent_)
      unsent_ = &packet;
  }
}

uint32_t Flow::sendable(std::span<OutPacket *> packets) const {
  uint32_t count = 0, flight = flight_;
  for (OutPacket *packet = unsent_; packet && count < packets.size(); packet = packet->next) {
    bool fits = packet->sequence - base_ < kWindow &&
                (flight == 0 || flight + packet->bytes <= flightBytes_);
    if (!fits)
      break;
    flight += packet->bytes;
    packets[count++] = packet;
  }
  return count;
}

void Flow::noteSent(OutPacket &packet, TimeNs now) {
  packet.sentAt = now;
  if (&packet != unsent_)
    return;
  unsent_ = packet.next;
  sent_ = packet.sequence + 1;
  flight_ += packet.bytes;
}

void Flow::dropOldest(OutPackets &pool, ReportResult &result) {
  OutPacket &packet = *oldest_;
  oldest_ = packet.next;
  ++base_;
  if ((packet.flags & kFinal) != 0)
    result.done.push_back(packet.frame);
  pool.give(packet);
}

bool Flow::takeReport(const PacketHeader &header, TimeNs now, OutPackets &pool,
                      ReportResult &result) {
  uint32_t count = header.acked - base_, inFlight = sent_ - base_;
  auto highest = static_cast<uint32_t>(std::bit_width(header.beyond)); // above header.acked
  if (static_cast<int32_t>(count) < 0)
    return true; // another one overtook it
  if (count > inFlight || (highest != 0 && count + 1 + highest > inFlight))
    return false;
  for (uint32_t i = 0; i < count; ++i) {
    flight_ -= oldest_->bytes;
    dropOldest(pool, result);
  }
  if (count != 0)
    noteProgress(now);
  bool coversAll = header.kind == PacketKind::Probe || (header.flags & kAnswersProbe) != 0;
  uint32_t suspects = coversAll ? sent_ - base_ : highest;
  OutPacket *packet = oldest_;
  for (uint32_t i = 0; i < suspects; ++i, packet = packet->next) {
    bool isThere = i > 0 && (header.beyond >> (i - 1) & 1) != 0;
    if (!isThere && now - packet->sentAt > pace.guard())
      result.lost.push_back(packet);
  }
  return true;
}

void Flow::cancel(OutPackets &pool, ReportResult &result) {
  while (oldest_)
    dropOldest(pool, result);
  unsent_ = nullptr;
  given_ = sent_ = base_;
  flight_ = 0;
}

Flow::Arrival Flow::place(uint32_t sequence) const {
  uint32_t ahead = sequence - received_;
  if (ahead == 0)
    return Arrival::Next;
  bool isNew = ahead < kWindow && (beyond_ >> (ahead - 1) & 1) == 0;
  return isNew ? Arrival::Early : Arrival::Useless;
}

void Flow::hold(uint32_t sequence, uint8_t flags, std::span<const std::byte> body,
                std::vector<std::vector<std::byte>> &spare) {
  early_.resize(kWindow);
  Early &early = early_[sequence % kWindow];
  if (!spare.empty()) {
    early.body = std::move(spare.back());
    spare.pop_back();
  }
  early.body.assign(body.begin(), body.end());
  early.flags = flags;
  beyond_ |= uint64_t{1} << (sequence - received_ - 1);
}

Early *Flow::advance(uint32_t bodyBytes) {
  ++received_;
  bytesSinceReport_ += bodyBytes;
  bool isHere = (beyond_ & 1) != 0;
  beyond_ >>= 1;
  return isHere ? &early_[received_ % kWindow] : nullptr;
}

uint64_t Flow::bytes() const {
  uint64_t sum = assembly.capacity();
  for (const Early &early : early_)
    sum += early.body.capacity();
  return sum;
}

bool Flow::mayNack(TimeNs now) {
  if (nackedAt_ != 0 && now - nackedAt_ <= pace.guard())
    return false;
  nackedAt_ = now;
  pause_ = pace.timeout();
  probeAt_ = now + pause_;
  return true;
}

void Flow::describe(PacketHeader &header, TimeNs now, bool isNow) {
  header.token = token;
  header.acked = reported_ = received_;
  header.beyond = beyond_;
  if (header.kind != PacketKind::Data)
    header.sequence = sent_;
  bytesSinceReport_ = 0;
  isReportWanted_ = false;
  if (!isNow)
    return;
  bool echoes = std::exchange(owesEcho_, false);
  if (echoes) {
    header.flags |= kHasEcho;
    header.echo = lastStamp_ + microseconds(now - stampAt_);
  }
  if (echoes && header.kind == PacketKind::Data && pace.isKnown())
    return; // else each packet would be answered so, without end
  header.flags |= kHasStamp;
  header.stamp = microseconds(now);
}

void Flow::noteHeader(const PacketHeader &header, TimeNs now, bool isNow) {
  silentSince_ = 0;
  isProbed_ = false;
  if (header.kind == PacketKind::Data)
    noteProgress(now);
  isReportWanted_ |= (header.flags & kWantsReport) != 0;
  if (isNow && (header.flags & kHasStamp) != 0) {
    lastStamp_ = header.stamp;
    stampAt_ = now;
    owesEcho_ = true;
  }
  if (!isNow || (header.flags & kHasEcho) == 0)
    return;
  uint32_t tookUs = microseconds(now) - header.echo;
  if (tookUs < kMaxRoundTripUs)
    pace.note(TimeNs{tookUs} * 1000);
}

// A packet that this rank sends does not postpone the packets that it expects.
void Flow::beginWait(TimeNs now) {
  isUntimed_ = false;
  if (std::exchange(isNewWait_, false) || (expected_ == 0 && !hasGap()))
    noteProgress(now);
}

void Flow::noteProgress(TimeNs now) {
  pause_ = expected_ > 0 || hasGap() ? pace.timeout() : lateTimeout(pace.timeout());
  probeAt_ = now + pause_;
}

bool Flow::noteProbe(TimeNs now) {
  if (silentSince_ == 0)
    silentSince_ = now;
  pause_ = std::min(2 * pause_, longestPause_);
  probeAt_ = now + pause_;
  return std::exchange(isProbed_, true);
}

} // namespace colldsl::datagram
