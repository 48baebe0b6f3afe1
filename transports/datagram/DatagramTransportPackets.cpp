// Sends and receives packets.
#include "transports/datagram/DatagramTransport.h"

#include <cstring>

namespace colldsl::datagram {
namespace {

// The most batches in a row; then others get their turn.
constexpr int kMaxLooks = 4;
constexpr TimeNs kParting = 100'000'000;

std::span<const std::byte> bodyOf(const OutPacket &packet) {
  return {packet.frame->data + packet.offset, packet.bytes};
}

bool isNotNow(int error) {
  return error == -EAGAIN || error == -ENOBUFS || error == -ENOMEM || error == -EINTR;
}

// An error of the network means that the packet is lost: perhaps the next one comes through.
bool isLoss(int error) {
  return error == -EPERM || error == -ENETUNREACH || error == -EHOSTUNREACH || error == -ENETDOWN ||
         error == -EHOSTDOWN || error == -ECONNREFUSED;
}

} // namespace

// Reports that nothing moves any more.
void DatagramTransport::breakDown(const std::string &what, int error) {
  if (!std::exchange(isBroken_, true))
    handler_->onBroken("cannot " + what + ": " + std::strerror(-error));
}

// Returns the number of messages that the kernel took, or the network lost.
int DatagramTransport::sendAll(std::span<mmsghdr> messages) {
  int count = calls_.send(socket_, messages.data(), static_cast<unsigned>(messages.size()));
  if (count >= 0 || isNotNow(count))
    return std::max(count, 0);
  if (!isLoss(count))
    breakDown("send", count);
  return 1;
}

uint32_t DatagramTransport::sendPackets(Flow &flow, std::span<OutPacket *const> packets) {
  for (size_t i = 0; i < packets.size(); ++i) {
    std::span<const std::byte> body = bodyOf(*packets[i]);
    PacketHeader &header = headers_[i] = {};
    header.kind = PacketKind::Data;
    header.flags = packets[i]->flags;
    header.from = self_;
    header.sequence = packets[i]->sequence;
    flow.describe(header, now_, isNow());
    seal(header, body);
    pieces_[i][1] = {const_cast<std::byte *>(body.data()), body.size()};
    messages_[i].msg_hdr.msg_name = &flow.address;
  }
  int taken = sendAll({messages_.data(), packets.size()});
  for (int i = 0; i < taken; ++i)
    flow.noteSent(*packets[static_cast<size_t>(i)], now_);
  if (taken > 0)
    timeLater(flow);
  return static_cast<uint32_t>(taken);
}

// Sends the packets that the window has room for. True: something was sent.
bool DatagramTransport::pump(Flow &flow) {
  bool moved = false;
  std::array<OutPacket *, kBatch> packets;
  uint32_t count = kBatch, taken = kBatch;
  while (taken == kBatch && !flow.peer.isLost && !isBroken_ &&
         (count = flow.sendable(packets)) > 0) {
    taken = sendPackets(flow, {packets.data(), count});
    counts_.packets += taken;
    moved |= taken != 0;
  }
  if (taken < count)
    stuck_.push_back(&flow);
  return moved;
}

network::PostResult DatagramTransport::send(network::Peer &to, network::Frame &frame) {
  Flow &flow = *flowOf(to);
  if (!isNow() && (flow.owesEcho() || isTimeToMeasure()))
    readClock();
  flow.append(frame, packets_);
  pump(flow);
  letTimePass();
  return network::PostResult::Ok;
}

// Packets that the kernel does not take are not kept: the receiver requests them again.
void DatagramTransport::repeat(Flow &flow, std::span<OutPacket *const> packets) {
  for (size_t i = 0; i < packets.size(); i += kBatch)
    counts_.repeated +=
        sendPackets(flow, packets.subspan(i, std::min<size_t>(kBatch, packets.size() - i)));
}

void DatagramTransport::sendOne(Flow &flow, PacketKind kind, uint8_t flags,
                                std::span<const iovec> body) {
  PacketHeader header;
  header.kind = kind;
  header.flags = flags;
  header.from = self_;
  header.token = flow.token;
  bool isKeepalive = kind == PacketKind::Keepalive;
  if (isKeepalive)
    header.beyond = place_.token;
  else
    flow.describe(header, now_, isNow());
  sealPieces(header, body);
  std::array<iovec, 4> pieces = {{{&header, sizeof header}}};
  std::copy(body.begin(), body.end(), pieces.begin() + 1);
  mmsghdr message = {};
  message.msg_hdr.msg_name = isKeepalive ? &flow.keepalive : &flow.address;
  message.msg_hdr.msg_namelen = sizeof(sockaddr_in);
  message.msg_hdr.msg_iov = pieces.data();
  message.msg_hdr.msg_iovlen = 1 + body.size();
  counts_.reports += body.empty();
  (void)sendAll({&message, 1});
}

// Receives datagrams on a socket. True: something came.
template <typename Take> bool DatagramTransport::receiveOn(int file, Take takeOne) {
  bool moved = false;
  for (int look = 0; look < kMaxLooks && !isBroken_; ++look) {
    int count = calls_.receive(file, slots_.data(), kBatch);
    if (count < 0 && !isNotNow(count) && !isLoss(count))
      breakDown("receive", count);
    for (int i = 0; i < count; ++i)
      takeOne(std::span<const std::byte>(received_.data() + size_t(i) * kMaxPacketBytes,
                                         std::min(slots_[size_t(i)].msg_len, kMaxPacketBytes)));
    moved |= count > 0;
    if (count < static_cast<int>(kBatch))
      break;
  }
  return moved;
}

bool DatagramTransport::receive() {
  bool moved = receiveOn(socket_, [this](auto datagram) { take(datagram); });
  for (const DatagramMulticast::Listener &listener : multicast_.listeners())
    moved |= receiveOn(listener.file,
                       [&](auto datagram) { multicast_.takeMulticast(listener, datagram); });
  if (!touched_.empty())
    reportAll();
  multicast_.sendOwed();
  return moved;
}

// True if this packet measures the round trip. One in 16 does, by chance, because in a schedule
// each 16th may go to the same peer. Until measureUntil_ every packet does, because the round trip
// of a new peer is unknown.
bool DatagramTransport::isTimeToMeasure() {
  chance_ = chance_ * 1664525 + 1013904223;
  return now_ < measureUntil_ || chance_ >> 28 == 0;
}

// The flow of a packet's sender, mostly the last one. Null: unknown.
Flow *DatagramTransport::senderOf(const PacketHeader &header) {
  if (lastSender_ && lastSender_->peer.rank == header.from)
    return lastSender_;
  auto known = flowByRank_.find(header.from);
  network::Peer *peer =
      known == flowByRank_.end() ? handler_->onConnectRequest(header.from) : &known->second->peer;
  return lastSender_ = peer ? flowOf(*peer) : nullptr;
}

// Checks everything in a packet, because it comes from the network.
void DatagramTransport::take(std::span<const std::byte> datagram) {
  std::optional<PacketView> packet = parse(datagram, place_.token);
  if (!packet) {
    ++counts_.refused;
    return;
  }
  const PacketHeader &header = packet->header;
  Flow *flow = senderOf(header);
  if (!flow || flow->peer.isLost) {
    ++counts_.refused;
    return;
  }
  if (header.kind == PacketKind::KeepaliveAck || header.kind == PacketKind::Keepalive) {
    flow->clearSilence();
    if (header.kind == PacketKind::Keepalive)
      sendOne(*flow, PacketKind::Status);
    return;
  }
  // The clock is read, because with an old time a report of a loss would seem to have crossed the
  // lost packet.
  bool isTimed = (header.flags & (kHasStamp | kHasEcho)) != 0 || header.kind != PacketKind::Data;
  if (isTimed && !isNow())
    readClock();
  flow->noteHeader(header, now_, isNow());
  takeReport(*flow, header);
  if (header.kind == PacketKind::Data)
    takeData(*flow, *packet);
  else if (hasBody(header.kind))
    multicast_.take(*flow, header.kind, packet->body);
}

void DatagramTransport::finishFrames() {
  for (network::Frame *frame : result_.done)
    handler_->onDone(*frame);
  result_.done.clear();
}

void DatagramTransport::takeReport(Flow &flow, const PacketHeader &header) {
  if (!flow.takeReport(header, now_, packets_, result_)) {
    ++counts_.refused;
    return;
  }
  bool repeats = !result_.lost.empty();
  repeat(flow, result_.lost);
  result_.lost.clear();
  finishFrames();
  if (flow.hasUnsent())
    pump(flow);
  if (header.kind == PacketKind::Probe && (!repeats || flow.misses(header.sequence)))
    sendOne(flow, PacketKind::Status, kAnswersProbe);
}

void DatagramTransport::touch(Flow &flow) {
  if (!std::exchange(flow.isTouched, true))
    touched_.push_back(&flow);
}

void DatagramTransport::takeData(Flow &flow, const PacketView &packet) {
  const PacketHeader &header = packet.header;
  switch (flow.place(header.sequence)) {
  case Flow::Arrival::Useless:
    ++counts_.useless;
    return;
  case Flow::Arrival::Early:
    flow.hold(header.sequence, header.flags, packet.body, spare_);
    return touch(flow);
  case Flow::Arrival::Next:
    touch(flow);
    Early *next = flow.advance(header.bodyBytes);
    bool isFine = deliver(flow, header.flags, packet.body);
    while (next && isFine) {
      std::vector<std::byte> body = std::move(next->body);
      uint8_t flags = next->flags;
      next = flow.advance(static_cast<uint32_t>(body.size()));
      isFine = deliver(flow, flags, body);
      spare_.push_back(std::move(body));
    }
    return;
  }
}

// Delivers parts of a frame, in order. False: the peer is lost.
bool DatagramTransport::deliver(Flow &flow, uint8_t flags, std::span<const std::byte> body) {
  bool isFirst = (flags & kFirst) != 0, isFinal = (flags & kFinal) != 0;
  if (isFirst != flow.assembly.empty() || flow.assembly.size() + body.size() > frameBytes_) {
    lose(flow, "it sends what is no frame");
    return false;
  }
  if (isFirst && isFinal) {
    handler_->onBytes(body);
    return !flow.peer.isLost;
  }
  flow.assembly.insert(flow.assembly.end(), body.begin(), body.end());
  if (isFinal) {
    handler_->onBytes(flow.assembly);
    flow.assembly.clear();
  }
  return !flow.peer.isLost;
}

// Called after all packets that came at once: many packets that seemed to be missing are here by
// then.
void DatagramTransport::reportAll() {
  for (Flow *flow : touched_) {
    flow->isTouched = false;
    if (flow->peer.isLost)
      continue;
    bool nacks = flow->hasGap() && flow->mayNack(now_);
    bool measures = !flow->pace.isKnown(); // by the next packet
    if (measures && !isNow())
      readClock();
    if (nacks || measures || flow->owesReport())
      sendOne(*flow, PacketKind::Status);
    if (flow->isWaiting())
      remind(*flow);
  }
  touched_.clear();
}

void DatagramTransport::expect(network::Peer &from) {
  if (Flow *flow = flowOf(from); flow && flow->expect())
    timeLater(*flow);
}

void DatagramTransport::timeLater(Flow &flow) {
  if (flow.waitLater())
    untimed_.push_back(&flow);
}

void DatagramTransport::expectLess(network::Peer &from) {
  if (Flow *flow = flowOf(from))
    flow->expectLess();
}

void DatagramTransport::lose(Flow &flow, const std::string &reason) {
  handler_->onLost(flow.peer, reason);
}

void DatagramTransport::sendProbes() {
  nextTimer_ = now_ + options_.longestPause.count();
  for (const auto &flow : flows_) {
    if (flow->peer.isLost || !flow->isWaiting())
      continue;
    if (flow->probeAt() <= now_)
      probe(*flow);
    remind(*flow);
  }
  nextTimer_ = std::min(nextTimer_, multicast_.sendProbes());
}

// A peer that has disconnected and answers no more has left with all frames that it wanted.
void DatagramTransport::probe(Flow &flow) {
  TimeNs silentFor = flow.silentSince() == 0 ? 0 : now_ - flow.silentSince();
  auto silence = std::chrono::nanoseconds(options_.silence).count();
  if (flow.peer.hasDisconnected && silentFor > kParting) {
    flow.cancel(packets_, result_);
    return finishFrames();
  }
  if (silentFor > silence)
    return lose(flow,
                "it has sent nothing for " + std::to_string(options_.silence.count()) + " ms");
  bool isInVain = flow.noteProbe(now_);
  ++counts_.probes;
  sendOne(flow, PacketKind::Probe);
  if (isInVain)
    sendOne(flow, PacketKind::Keepalive);
  multicast_.sendNacks(flow);
}

} // namespace colldsl::datagram
