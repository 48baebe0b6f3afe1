#include "protocol/RemoteReceiver.h"

#include <cstring>

namespace colldsl::protocol {

using network::Access;
using network::Header;
using network::Kind;
using network::RegisteredMemory;
using network::RemoteIov;
using network::RtrBody;
using network::RtsBody;
using Clock = std::chrono::steady_clock;

void RemoteReceiver::onRts(const Header &header, std::span<const std::byte> bytes) {
  RtsBody body;
  if (bytes.size() != sizeof body)
    return;
  if (context_.isDiscarded(header.tag)) // its sender need not wait
    return sendFin(header.rendezvous, header.tag);
  std::memcpy(&body, bytes.data(), sizeof body);
  Rts rts;
  rts.bytes = body.bytes;
  rts.buffer.address = body.address;
  rts.buffer.key = body.key;
  rts.buffer.isReadable = body.isReadable != 0;
  rts.buffer.id = static_cast<uint16_t>(header.rendezvous);
  rts.tag = header.tag;
  rts.rendezvous = header.rendezvous;
  rts.remoteIovs = body.remoteIovs;
  if (isAwaitingPut(rts))
    return deferred_.push_back(rts);
  side_->onRts(header.tag, rts.buffer.id, rts);
}

// Puts keep no order with frames.
void RemoteReceiver::takeDeferred() {
  for (size_t i = 0; i < deferred_.size();) {
    Rts rts = deferred_[i];
    if (isAwaitingPut(rts)) {
      ++i;
      continue;
    }
    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
    if (context_.isDiscarded(rts.tag))
      refuse(rts);
    else
      side_->onRts(rts.tag, rts.buffer.id, rts);
  }
}

void RemoteReceiver::onStreamClosed(StreamId stream) {
  std::erase_if(deferred_, [&](const Rts &rts) {
    bool isGone = streamOf(rts.tag) == stream;
    if (isGone)
      refuse(rts);
    return isGone;
  });
  side_->onStreamClosed(stream);
}

RemoteReceiver::Claim *RemoteReceiver::find(uint32_t rendezvous) {
  uint32_t place = rendezvous & 0xffff;
  if (place >= claims_.size() || claims_[place].state == State::None)
    return nullptr;
  return claims_[place].rts.rendezvous == rendezvous ? &claims_[place] : nullptr;
}

// The sender does not use an id again before its request is out of the way here.
bool RemoteReceiver::claim(const Rts &rts) {
  while (claims_.size() <= (rts.rendezvous & 0xffff)) {
    auto id = static_cast<uint16_t>(claims_.size());
    Claim &made = claims_.emplace_back();
    made.peer = &peer_;
    made.owner = this;
    made.id = id;
  }
  Claim &claim = claimOf(rts);
  claim.state = State::Claimed;
  claim.isCanceled = false;
  claim.rts = rts;
  claim.payload = RequestPayload();
  claim.received = 0;
  return true;
}

void RemoteReceiver::sendFin(uint32_t rendezvous, const Tag &tag) {
  context_.am->send(peer_, {.tag = tag, .rendezvous = rendezvous, .kind = Kind::Fin},
                    std::span<const std::byte>());
}

void RemoteReceiver::sendDone(const Rts &rts) {
  sendFin(rts.rendezvous, rts.tag);
  giveBack(claimOf(rts));
}

// Memory that must not be given back to the system is registered for one message.
void RemoteReceiver::endUse(RegisteredMemory &registered) {
  const network::Capabilities &capabilities = context_.carrier.capabilities();
  if (capabilities.ticketIsKey || (capabilities.pins && !registered.isStatic))
    registered.region.reset();
}

void RemoteReceiver::giveBack(Claim &claim) {
  withdrawEarlyRtr(claim.payload);
  if (claim.payload.registered)
    endUse(*claim.payload.registered);
  claim.payload = RequestPayload();
  claim.state = State::None;
}

void RemoteReceiver::sendStream(const Rts &rts) {
  claimOf(rts).state = State::Stream;
  RtrBody body = {};
  body.bytes = rts.bytes;
  context_.am->send(peer_, {.tag = rts.tag, .rendezvous = rts.rendezvous, .kind = Kind::Rtr}, body);
}

void RemoteReceiver::sendReady(const Rts &rts, const RemoteBuffer &buffer) {
  const RequestPayload &payload = *buffer.payload;
  if (!context_.tickets.hasRoom() ||
      !network::registerMemory(context_.carrier, payload, Access::RemoteWrite))
    return sendStream(rts);
  Claim &claim = claimOf(rts);
  claim.state = State::Ready;
  claim.payload = payload;
  sendRtr(payload, rts.bytes, rts.tag, rts.rendezvous);
}

void RemoteReceiver::sendRtr(const RequestPayload &payload, uint64_t bytes, const Tag &tag,
                             uint32_t rendezvous) {
  const network::Carrier &carrier = context_.carrier;
  RegisteredMemory &registered = *payload.registered;
  struct {
    RtrBody body;
    RemoteIov remoteIovs[network::kMaxRemoteIovs];
  } room = {};
  RtrBody &body = room.body;
  void *begin = registered.of.iov_base;
  body.bytes = bytes;
  body.address = carrier.named(begin, begin);
  body.key = registered.region.key();
  registered.ticket = context_.tickets.add(
      {this, tag, static_cast<uint16_t>(rendezvous), rendezvous == network::kNoRts},
      carrier.capabilities().ticketIsKey ? std::optional(body.key) : std::nullopt);
  body.ticket = context_.tickets.nameOf(registered.ticket);
  body.isWritable = 1;
  uint64_t left = bytes;
  for (uint32_t i = 0; payload.count > 1 && left > 0; ++i) {
    const iovec &piece = payload.pieces[i];
    uint64_t part = std::min<uint64_t>(left, piece.iov_len);
    room.remoteIovs[body.remoteIovs++] = {carrier.named(piece.iov_base, begin), part};
    left -= part;
  }
  auto said = std::as_bytes(std::span(&room, 1));
  context_.am->send(peer_, {.tag = tag, .rendezvous = rendezvous, .kind = Kind::Rtr},
                    said.first(sizeof body + body.remoteIovs * sizeof(RemoteIov)));
}

// Not before all that came is taken: the sender may have given the message up meanwhile.
Got RemoteReceiver::get(const RemoteBuffer &from, uint64_t, const RequestPayload &to) {
  if (!from.isReadable || !context_.canMove(peer_, to, to.bytes) ||
      !context_.canGather(to, Access::Read))
    return Got::Refused;
  if (context_.carrier.capabilities().local &&
      !network::registerMemory(context_.carrier, to, Access::Read))
    return Got::Refused;
  Claim &claim = claims_[from.id];
  claim.payload = to;
  claim.state = State::Getting;
  context_.toMove.push_back(&claim);
  return Got::Started;
}

bool RemoteReceiver::startMove(uint16_t id) {
  Claim &claim = claims_[id];
  if (claim.state != State::Getting || claim.isOpen)
    return true; // it was given up
  network::MoveSpec spec = network::makeMoveSpec(claim.payload, claim.rts.bytes);
  spec.address = claim.rts.buffer.address;
  spec.key = claim.rts.buffer.key;
  claim.began = Clock::now();
  return context_.am->move(claim, spec, false);
}

// What a sender failed with may be read from memory that it uses again. It waits for `linger`
// before it does; after a read that took nearly as long the sender is asked.
void RemoteReceiver::onMoved(uint16_t id) {
  Claim &claim = claims_[id];
  if (claim.isCanceled) {
    giveBack(claim);
    return side_->onRtsCanceled(id);
  }
  if (Clock::now() - claim.began < context_.options.linger / 2)
    return side_->onGot(id);
  claim.state = State::ToConfirm;
  context_.am->send(peer_,
                    {.tag = claim.rts.tag, .rendezvous = claim.rts.rendezvous, .kind = Kind::Probe},
                    network::ProbeBody{.sends = 0});
}

// Whether the sender had given it up came before.
void RemoteReceiver::onConfirmed(uint32_t rendezvous) {
  Claim *claim = find(rendezvous);
  if (claim && claim->state == State::ToConfirm)
    side_->onGot(claim->id);
}

bool RemoteReceiver::cancelReady(const Rts &rts) {
  Claim *claim = find(rts.rendezvous);
  if (!claim)
    return true;
  if (claim->isOpen)
    return false;
  if (claim->state == State::Getting)
    sendDone(rts); // it had not begun
  if (claim->state != State::Ready || isDrained(rts.tag))
    return true;
  sender_.cancelRun(rts.tag);
  return false;
}

// A device reads and writes by itself: what may still move is registered no more.
void RemoteReceiver::discard(const Rts &rts) {
  Claim *claim = find(rts.rendezvous);
  if (!claim)
    return;
  bool mayMove = claim->isOpen || mayBePut(*claim);
  withdrawEarlyRtr(claim->payload);
  if (mayMove && claim->payload.registered)
    claim->payload.registered->region.reset();
  claim->payload = RequestPayload();
  claim->isCanceled = true;
  if (!claim->isOpen && claim->state != State::Stream)
    claim->state = State::Stream;
}

void RemoteReceiver::sendEarlyRtr(const Tag &tag, const RequestPayload &payload, Mover mover,
                                  Protocol protocol) {
  if (!payload.registered || payload.upTo || !context_.canBeWritten(peer_, payload, payload.bytes))
    return;
  bool isMeant = payload.registered->usesEarlyRtr && mover != Mover::Reader;
  if ((protocol == Protocol::Static || isMeant || context_.options.sendsEarlyRtr) &&
      context_.tickets.hasRoom() &&
      network::registerMemory(context_.carrier, payload, Access::RemoteWrite))
    sendRtr(payload, payload.bytes, tag, network::kNoRts);
}

void RemoteReceiver::withdrawEarlyRtr(const RequestPayload &payload) {
  RegisteredMemory *registered = payload.registered;
  if (!registered || registered->ticket == RegisteredMemory::kNoTicket)
    return;
  context_.tickets.retire(registered->ticket);
  registered->ticket = RegisteredMemory::kNoTicket;
  endUse(*registered);
}

// A sender that can use the early RTR does so, and needs no reply.
bool RemoteReceiver::hasEarlyRtr(const RequestPayload &payload, const Rts &rts) {
  RegisteredMemory *registered = payload.registered;
  if (!registered)
    return false;
  registered->usesEarlyRtr = true;
  if (registered->ticket == RegisteredMemory::kNoTicket)
    return false;
  if (rts.remoteIovs >= payload.count && rts.bytes == payload.bytes)
    return true;
  withdrawEarlyRtr(payload);
  return false;
}

bool RemoteReceiver::cancelEarlyRtr(const Tag &tag, const RequestPayload &payload) {
  const RegisteredMemory *registered = payload.registered;
  if (!registered || registered->ticket == RegisteredMemory::kNoTicket || isDrained(tag))
    return true;
  sender_.cancelRun(tag);
  return false;
}

void RemoteReceiver::forgetEarlyRtr(const Tag &tag, const RequestPayload &payload) {
  RegisteredMemory *registered = payload.registered;
  bool mayMove = registered && registered->ticket != RegisteredMemory::kNoTicket && !isDrained(tag);
  withdrawEarlyRtr(payload);
  if (mayMove)
    registered->region.reset();
}

void RemoteReceiver::onPut(const TicketTable::Ticket &ticket) {
  if (ticket.isEarly)
    return side_->onEarlyRtrPut(ticket.tag);
  giveBack(claims_[ticket.id]);
  side_->onPut(ticket.id);
  takeDeferred();
}

void RemoteReceiver::onFragment(uint32_t rendezvous, std::span<const std::byte> bytes) {
  if (Claim *claim = find(rendezvous))
    fragment(*claim, bytes);
}

void RemoteReceiver::onFragmentFor(const Request &request, std::span<const std::byte> bytes) {
  uint16_t id = request.rendezvousId;
  if (id < claims_.size() && claims_[id].rts.tag == request.tag)
    fragment(claims_[id], bytes);
}

// Of a sender that could not put, too.
void RemoteReceiver::fragment(Claim &claim, std::span<const std::byte> bytes) {
  bool isExpected = claim.state == State::Stream || claim.state == State::Ready;
  if (!isExpected || bytes.size() > claim.rts.bytes - claim.received)
    return;
  withdrawEarlyRtr(claim.payload);
  claim.received += bytes.size();
  if (claim.received == claim.rts.bytes)
    giveBack(claim);
  side_->onFragment(claim.id, bytes.data(), bytes.size());
}

// The receives wait as if nothing had come. Those whose memory is being read into, or may be put
// into, do so once that is over, so that to cancel them waits for it.
void RemoteReceiver::onCancel(const Tag &scope) {
  for (Claim &claim : claims_) {
    if (claim.state == State::None || !isOf(claim.rts.tag, scope))
      continue;
    claim.isCanceled = true;
    if (claim.isOpen || mayBePut(claim))
      continue;
    giveBack(claim);
    side_->onRtsCanceled(claim.id);
  }
  std::erase_if(deferred_, [&](const Rts &rts) { return isOf(rts.tag, scope); });
  side_->dropRts(scope);
  takeDeferred();
}

// Nothing is put any more.
void RemoteReceiver::onDrained(const Tag &scope) {
  for (Claim &claim : claims_)
    if (claim.state == State::Ready && claim.isCanceled && isOf(claim.rts.tag, scope)) {
      giveBack(claim);
      side_->onRtsCanceled(claim.id);
    }
  takeDeferred();
}

void RemoteReceiver::dropGets(const Tag &scope) {
  for (Claim &claim : claims_)
    if (claim.state == State::Getting && !claim.isOpen && isOf(claim.rts.tag, scope))
      sendDone(claim.rts);
}

bool RemoteReceiver::isMoving(const Tag &scope) const {
  return std::any_of(claims_.begin(), claims_.end(), [&](const Claim &claim) {
    return claim.isOpen && isOf(claim.rts.tag, scope);
  });
}

} // namespace colldsl::protocol
