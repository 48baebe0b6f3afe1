#include "protocol/remote/RemoteReceiver.h"

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
    return sendFinFrame(header.rendezvous, header.tag);
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

// Takes the requests that overtook a put, since puts keep no order with frames.
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
  claim.isCancelled = false;
  claim.rts = rts;
  claim.payload = RequestPayload();
  claim.received = 0;
  return true;
}

void RemoteReceiver::sendFinFrame(uint32_t rendezvous, const Tag &tag) {
  context_.am->send(peer_, {.tag = tag, .rendezvous = rendezvous, .kind = Kind::Fin},
                    std::span<const std::byte>());
}

void RemoteReceiver::sendFin(const Rts &rts) {
  sendFinFrame(rts.rendezvous, rts.tag);
  releaseClaim(claimOf(rts));
}

// Memory that must not be given back to the system is registered for one message.
void RemoteReceiver::endUse(RegisteredMemory &registered) {
  const network::Capabilities &capabilities = context_.transport.capabilities();
  if (capabilities.immediateIsKey || (capabilities.pinsPages && !registered.isStatic))
    registered.region.reset();
}

void RemoteReceiver::releaseClaim(Claim &claim) {
  retireRtr(claim.payload);
  if (claim.payload.registered)
    endUse(*claim.payload.registered);
  claim.payload = RequestPayload();
  claim.state = State::None;
}

void RemoteReceiver::requestFragments(const Rts &rts) {
  claimOf(rts).state = State::Fragments;
  RtrBody body = {};
  body.bytes = rts.bytes;
  context_.am->send(peer_, {.tag = rts.tag, .rendezvous = rts.rendezvous, .kind = Kind::Rtr}, body);
}

void RemoteReceiver::sendRtr(const Rts &rts, const RemoteBuffer &buffer) {
  const RequestPayload &payload = *buffer.payload;
  if (!prepareRtr(payload))
    return requestFragments(rts);
  Claim &claim = claimOf(rts);
  claim.state = State::RtrSent;
  claim.payload = payload;
  sendRtrFrame(payload, rts.bytes, rts.tag, rts.rendezvous);
}

void RemoteReceiver::sendRtrFrame(const RequestPayload &payload, uint64_t bytes, const Tag &tag,
                                  uint32_t rendezvous) {
  const network::Transport &transport = context_.transport;
  RegisteredMemory &registered = *payload.registered;
  struct {
    RtrBody body;
    RemoteIov remoteIovs[network::kMaxRemoteIovs];
  } room = {};
  RtrBody &body = room.body;
  const network::RmaMemory memory = network::rmaMemoryOf(payload);
  body.bytes = bytes;
  body.address = transport.remoteAddressOf(memory.pieces[0].iov_base, memory.begin);
  body.key = memory.region.key();
  bool isEarly = rendezvous == network::kNoRts;
  registered.stays |= isEarly && registered.mayStay && payload.count == 1;
  RtrTable::Entry rtr{this, tag, static_cast<uint16_t>(rendezvous), isEarly, registered.stays};
  if (registered.rtr != RegisteredMemory::kNoRtr)
    context_.rtrs.renew(registered.rtr, rtr);
  else
    registered.rtr = context_.rtrs.add(
        rtr, transport.capabilities().immediateIsKey ? std::optional(body.key) : std::nullopt);
  registered.mayBePut = true;
  if (isEarly && registered.stays) {
    body.stay = registered.isAnnounced ? network::Stay::Announced : network::Stay::UntilReady;
    body.hasCanary = watch(tag, payload);
  }
  body.rtrId = context_.rtrs.idOf(registered.rtr);
  body.isWritable = 1;
  uint64_t left = bytes;
  for (uint32_t i = 0; payload.count > 1 && left > 0; ++i) {
    const iovec &piece = memory.pieces[i];
    uint64_t part = std::min<uint64_t>(left, piece.iov_len);
    if (part > 0) // a block may be empty
      room.remoteIovs[body.remoteIovs++] = {transport.remoteAddressOf(piece.iov_base, memory.begin),
                                            part};
    left -= part;
  }
  auto sent = std::as_bytes(std::span(&room, 1));
  context_.am->send(peer_, {.tag = tag, .rendezvous = rendezvous, .kind = Kind::Rtr},
                    sent.first(sizeof body + body.remoteIovs * sizeof(RemoteIov)));
}

// Queues the read until all that came is taken: the sender may have cancelled the message.
GetResult RemoteReceiver::get(const RemoteBuffer &from, uint64_t, const RequestPayload &to) {
  if (!from.isReadable || !context_.canUseRma(peer_, to, to.bytes) ||
      !context_.canGather(to, Access::Read))
    return GetResult::Refused;
  if (context_.transport.capabilities().needsLocalRegistration &&
      !network::registerMemory(context_.transport, to, Access::Read))
    return GetResult::Refused;
  Claim &claim = claims_[from.id];
  claim.payload = to;
  claim.state = State::Getting;
  context_.rmaQueue.push_back(&claim);
  return GetResult::Started;
}

bool RemoteReceiver::startRma(uint16_t id) {
  Claim &claim = claims_[id];
  if (claim.state != State::Getting || claim.isOpen)
    return true; // it was cancelled
  network::RmaSpec spec = network::makeRmaSpec(claim.payload, claim.rts.bytes);
  spec.address = claim.rts.buffer.address;
  spec.key = claim.rts.buffer.key;
  claim.began = Clock::now();
  return context_.am->startRma(claim, spec, false);
}

// A sender that has failed may use the memory of its message again, after it has waited for
// `linger`. So after a read that took nearly as long this end probes the sender.
void RemoteReceiver::onRmaDone(uint16_t id) {
  Claim &claim = claims_[id];
  if (claim.isCancelled) {
    releaseClaim(claim);
    return side_->onRtsCancelled(id);
  }
  if (Clock::now() - claim.began < context_.options.linger / 2)
    return finishGet(claim);
  claim.state = State::ToConfirm;
  context_.am->send(peer_,
                    {.tag = claim.rts.tag, .rendezvous = claim.rts.rendezvous, .kind = Kind::Probe},
                    network::ProbeBody{.sends = 0});
}

// The message was not cancelled: a Cancel of the sender would have come before this answer.
void RemoteReceiver::onConfirmed(uint32_t rendezvous) {
  Claim *claim = find(rendezvous);
  if (claim && claim->state == State::ToConfirm)
    finishGet(*claim);
}

void RemoteReceiver::finishGet(Claim &claim) {
  noteWritten(claim.payload);
  side_->onGetDone(claim.id);
}

bool RemoteReceiver::cancelRtr(const Rts &rts) {
  Claim *claim = find(rts.rendezvous);
  if (!claim)
    return true;
  if (claim->isOpen)
    return false;
  if (claim->state == State::Getting)
    sendFin(rts); // it had not begun
  if (claim->state != State::RtrSent || isCancelAcked(rts.tag))
    return true;
  sender_.cancelRun(rts.tag);
  return false;
}

// A device reads and writes by itself, so memory that it may still use is no longer registered.
void RemoteReceiver::cancelReceive(const Rts &rts) {
  Claim *claim = find(rts.rendezvous);
  if (!claim)
    return;
  bool mayMove = claim->isOpen || mayBePut(*claim);
  retireRtr(claim->payload);
  if (mayMove)
    network::revoke(claim->payload);
  claim->payload = RequestPayload();
  claim->isCancelled = true;
  if (!claim->isOpen && claim->state != State::Fragments)
    claim->state = State::Fragments;
}

void RemoteReceiver::sendEarlyRtr(const Tag &tag, const RequestPayload &payload, Mover mover) {
  if (!payload.registered || payload.upTo || !context_.canBeWritten(peer_, payload, payload.bytes))
    return;
  bool isMeant = payload.registered->usesEarlyRtr && mover != Mover::Reader;
  if (!payload.registered->isStatic && !isMeant && !context_.options.sendsEarlyRtr)
    return;
  endOtherRtr(payload);
  if (payload.registered->stays)
    sendReady(tag, payload);
  else if (prepareRtr(payload))
    sendRtrFrame(payload, payload.bytes, tag, network::kNoRts);
}

void RemoteReceiver::retireRtr(const RequestPayload &payload) {
  RegisteredMemory *registered = payload.registered;
  if (!registered || !registered->mayBePut)
    return;
  registered->mayBePut = false;
  std::erase_if(context_.watches,
                [&](const CanaryWatch &watch) { return watch.memory == registered; });
  if (!registered->stays)
    releaseRtr(*registered);
}

void RemoteReceiver::releaseRtr(RegisteredMemory &registered) {
  context_.rtrs.retire(registered.rtr);
  registered.rtr = RegisteredMemory::kNoRtr;
  registered.stays = false;
  endUse(registered);
}

// A sender that can use the early RTR does so, and needs no reply.
bool RemoteReceiver::hasEarlyRtr(const RequestPayload &payload, const Rts &rts) {
  RegisteredMemory *registered = payload.registered;
  if (!registered)
    return false;
  registered->usesEarlyRtr = true;
  if (!registered->mayBePut)
    return false;
  if (rts.remoteIovs >= payload.count && rts.bytes == payload.bytes)
    return true;
  retireRtr(payload);
  return false;
}

bool RemoteReceiver::cancelEarlyRtr(const Tag &tag, const RequestPayload &payload) {
  const RegisteredMemory *registered = payload.registered;
  if (!registered || !registered->mayBePut || isCancelAcked(tag))
    return true;
  sender_.cancelRun(tag);
  return false;
}

void RemoteReceiver::cancelReceive(const Tag &tag, const RequestPayload &payload) {
  RegisteredMemory *registered = payload.registered;
  bool mayMove = registered && registered->mayBePut && !isCancelAcked(tag);
  retireRtr(payload);
  if (mayMove)
    network::revoke(payload);
}

void RemoteReceiver::onPut(const RtrTable::Entry &rtr) {
  if (rtr.isEarly)
    return side_->onEarlyRtrPut(rtr.tag);
  noteWritten(claims_[rtr.id].payload);
  releaseClaim(claims_[rtr.id]);
  side_->onPut(rtr.id);
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

// Takes a fragment, also from a sender that could not put.
void RemoteReceiver::fragment(Claim &claim, std::span<const std::byte> bytes) {
  bool isExpected = claim.state == State::Fragments || claim.state == State::RtrSent;
  if (!isExpected || bytes.size() > claim.rts.bytes - claim.received)
    return;
  retireRtr(claim.payload);
  claim.received += bytes.size();
  if (claim.received == claim.rts.bytes)
    releaseClaim(claim);
  side_->onFragment(claim.id, bytes.data(), bytes.size());
}

// The receives wait as if nothing had come. Those whose memory is being read into, or may be put
// into, do so once that is over, so that to cancel them waits for it.
void RemoteReceiver::onCancel(const Tag &scope) {
  for (Claim &claim : claims_) {
    if (claim.state == State::None || !isOf(claim.rts.tag, scope))
      continue;
    claim.isCancelled = true;
    if (claim.isOpen || mayBePut(claim))
      continue;
    releaseClaim(claim);
    side_->onRtsCancelled(claim.id);
  }
  std::erase_if(deferred_, [&](const Rts &rts) { return isOf(rts.tag, scope); });
  side_->dropRts(scope);
  takeDeferred();
}

// The sender puts nothing any more.
void RemoteReceiver::onCancelAck(const Tag &scope) {
  for (Claim &claim : claims_)
    if (claim.state == State::RtrSent && claim.isCancelled && isOf(claim.rts.tag, scope)) {
      releaseClaim(claim);
      side_->onRtsCancelled(claim.id);
    }
  takeDeferred();
}

void RemoteReceiver::dropGets(const Tag &scope) {
  for (Claim &claim : claims_)
    if (claim.state == State::Getting && !claim.isOpen && isOf(claim.rts.tag, scope))
      sendFin(claim.rts);
}

bool RemoteReceiver::hasOpenRma(const Tag &scope) const {
  return std::any_of(claims_.begin(), claims_.end(), [&](const Claim &claim) {
    return claim.isOpen && isOf(claim.rts.tag, scope);
  });
}

} // namespace colldsl::protocol
