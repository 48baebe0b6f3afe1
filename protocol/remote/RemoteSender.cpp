#include "protocol/remote/RemoteSender.h"

#include <cstring>

namespace colldsl::protocol {

using network::Header;
using network::Kind;
using network::RemoteIov;
using network::RtrBody;
using network::RtsBody;

bool RemoteSender::trySendLonger(const Tag &tag, const RequestPayload &payload) {
  if (isThrottled(payload.bytes))
    return false;
  context_.am->sendEager(peer_, {.tag = tag, .kind = Kind::Eager}, payload);
  return true;
}

// Null: all ids are in use.
RemoteSender::Id *RemoteSender::fresh(const Tag &tag, const RequestPayload &payload) {
  if (freeIds_.empty()) {
    if (ids_.size() > UINT16_MAX)
      return nullptr;
    freeIds_.push_back(static_cast<uint16_t>(ids_.size()));
    Id &made = ids_.emplace_back();
    made.peer = &peer_;
    made.owner = this;
    made.id = freeIds_.back();
  }
  Id &id = ids_[freeIds_.back()];
  freeIds_.pop_back();
  id.use = static_cast<uint16_t>(std::max(1, id.use + 1)); // 0 names none
  id.state = State::Requested;
  id.isReadable = false;
  id.tag = tag;
  id.payload = payload;
  return &id;
}

RemoteSender::Id *RemoteSender::find(uint32_t rendezvous) {
  auto place = static_cast<uint16_t>(rendezvous);
  if (place >= ids_.size() || ids_[place].state == State::Free)
    return nullptr;
  return rendezvousOf(ids_[place]) == rendezvous ? &ids_[place] : nullptr;
}

void RemoteSender::free(Id &id) {
  id.kept.reset();
  id.state = State::Free;
  freeIds_.push_back(id.id);
}

// Memory that must not be given back to the system is registered only if the schedule has the
// receiver read it. Device memory is not read by receivers: plans share its registration, so a
// cancelled send could not take it back.
bool RemoteSender::trySendRts(const Tag &tag, const RequestPayload &payload, Mover mover,
                              rendezvous::SenderLoad, uint16_t &id) {
  Id *made = fresh(tag, payload);
  if (!made)
    return false;
  id = made->id;
  requested_.add(*made);
  RtsBody body = {.bytes = payload.bytes, .address = 0, .key = 0, .isReadable = 0, .remoteIovs = 0};
  bool hasRma = context_.canUseRma(peer_, payload, payload.bytes);
  if (hasRma && context_.canGather(payload, network::Access::Write))
    body.remoteIovs = context_.mostRemoteIovs();
  bool mayRead = mover == Mover::Reader || !context_.transport.capabilities().pinsPages;
  if (hasRma && payload.count == 1 && mayRead && !payload.device &&
      network::registerMemory(context_.transport, payload, network::Access::RemoteRead)) {
    void *begin = payload.pieces[0].iov_base;
    body.isReadable = made->isReadable = true;
    body.address = context_.transport.remoteAddressOf(begin, begin);
    body.key = payload.registered->region.key();
  }
  context_.am->send(peer_, {.tag = tag, .rendezvous = rendezvousOf(*made), .kind = Kind::Rts},
                    body);
  return true;
}

RemoteSender::Replied RemoteSender::replyTo(uint16_t id) const {
  switch (ids_[id].state) {
  case State::Requested:
  case State::Free:
  case State::Cancelled:
    return Replied::Nothing;
  case State::Done:
    return Replied::Fin;
  case State::Fragments:
    return Replied::Fragments;
  case State::Putting:
  case State::Put:
    return Replied::Rtr;
  }
  __builtin_unreachable();
}

bool RemoteSender::trySendFragment(const Tag &tag, const RequestPayload &payload, uint64_t offset,
                                   uint64_t bytes, uint16_t id) {
  network::ActiveMessages &am = *context_.am;
  bool hasRoom = peer_.longInFlight < context_.options.fragments && peer_.waiting.empty() &&
                 (am.hasFrame(bytes) || !am.willHaveFrame(bytes));
  if (!hasRoom || peer_.isLost)
    return false;
  am.sendPart(peer_, {.tag = tag, .rendezvous = rendezvousOf(ids_[id]), .kind = Kind::Fragment},
              payload, offset, static_cast<uint32_t>(bytes));
  return true;
}

void RemoteSender::release(uint16_t id) {
  Id &done = ids_[id];
  network::RegisteredMemory *registered = done.payload.registered;
  if (registered && context_.transport.capabilities().pinsPages && !registered->isStatic)
    registered->region.reset();
  free(done);
}

void RemoteSender::cancelRun(const Tag &tag) {
  if (lastCancel_.run == tag.run && streamOf(lastCancel_) == streamOf(tag))
    return;
  lastCancel_ = tag;
  context_.am->send(peer_, {.tag = tag, .kind = Kind::Cancel}, std::span<const std::byte>());
}

bool RemoteSender::cancelRts(uint16_t id) {
  Id &given = ids_[id];
  if (given.isOpen)
    return false;
  bool isAnswered = given.state != State::Requested && given.state != State::Fragments;
  bool isCancelAcked = peer_.isLost || this->isCancelAcked(given.tag);
  if (!isAnswered && !isCancelAcked) {
    cancelRun(given.tag);
    if (given.isReadable && given.state == State::Requested)
      return false;
  }
  if (given.state == State::Requested)
    requested_.take(given.tag);
  if (given.isReadable && peer_.isLost)
    given.payload.registered->region.reset();
  if (isAnswered || isCancelAcked)
    free(given);
  else
    given.state = State::Cancelled;
  return true;
}

bool RemoteSender::cancelRtsUnconfirmed(uint16_t id) {
  Id &given = ids_[id];
  if (given.state == State::Requested)
    requested_.take(given.tag);
  if (given.isReadable && given.state == State::Requested && context_.am->hasAll(peer_))
    given.kept = std::move(given.payload.registered->region);
  else if (given.isOpen || !given.payload.device)
    network::revoke(given.payload);
  given.state = State::Cancelled;
  return given.isOpen;
}

// The put is done, and the send with it, whatever the receiver does.
void RemoteSender::onRmaDone(uint16_t id) {
  Id &given = ids_[id];
  if (given.state == State::Cancelled)
    return free(given);
  given.state = State::Put;
  hasReplies_ = true;
}

bool RemoteSender::canPut(const Buffer &buffer, const RequestPayload &payload) const {
  return buffer.body.isWritable && buffer.body.bytes == payload.bytes &&
         context_.canUseRma(peer_, payload, payload.bytes) &&
         context_.canGather(payload, network::Access::Write);
}

bool RemoteSender::beginPut(Id &id) {
  id.buffer.body.hasCanary = id.buffer.body.hasCanary && !endsInCanary(id.payload);
  if (context_.transport.capabilities().needsLocalRegistration &&
      !network::registerMemory(context_.transport, id.payload, network::Access::Write))
    return false;
  id.isReadable = false; // the receiver has decided
  id.state = State::Putting;
  hasReplies_ = true;
  if (!startRma(id.id))
    context_.rmaQueue.push_back(&id);
  return true;
}

// Asks for fragments after an early RTR: the receiver would ignore a request that the RTR fits.
void RemoteSender::sendRtsForFragments(Id &id) {
  requested_.add(id);
  context_.am->send(
      peer_, {.tag = id.tag, .rendezvous = rendezvousOf(id), .kind = Kind::Rts},
      RtsBody{.bytes = id.payload.bytes, .address = 0, .key = 0, .isReadable = 0, .remoteIovs = 0});
}

bool RemoteSender::startRma(uint16_t id) {
  Id &given = ids_[id];
  if (given.state != State::Putting || given.isOpen)
    return true; // it was cancelled
  network::RmaSpec spec = network::makeRmaSpec(given.payload, given.payload.bytes);
  spec.address = given.buffer.body.address;
  spec.remoteIovs = given.buffer.remoteIovs;
  spec.key = given.buffer.body.key;
  spec.immediate = given.buffer.body.rtrId;
  spec.isSilent = given.buffer.body.hasCanary != 0;
  return context_.am->startRma(given, spec, true);
}

bool RemoteSender::takeEarlyRtr(const Tag &tag, const RequestPayload &payload, uint16_t &id) {
  if (!payload.registered)
    return false;
  EarlyRtr *rtr = earlyRtrs_.empty() ? nullptr : earlyRtrs_.take(tag);
  if (!rtr)
    return findReady(tag) && putStatic(tag, payload, id);
  spare_.push_back(rtr);
  return putInto(rtr->buffer, tag, payload, id);
}

// False: the message is to go in another way.
bool RemoteSender::putInto(Buffer &buffer, const Tag &tag, const RequestPayload &payload,
                           uint16_t &id) {
  payload.registered->usesEarlyRtr = true;
  Id *made = canPut(buffer, payload) ? fresh(tag, payload) : nullptr;
  if (!made)
    return false;
  std::swap(made->buffer, buffer);
  id = made->id;
  if (!beginPut(*made))
    sendRtsForFragments(*made);
  return true;
}

void RemoteSender::closeStream(uint32_t context, uint32_t stream) {
  StreamId id = streamId(context, stream);
  auto multicasts = multicasts_.find(id);
  if (!peer_.isSelf)
    context_.am->send(peer_, {.tag = {context, stream, kAllRuns, 0}, .kind = Kind::CloseStream},
                      network::CloseBody{multicasts == multicasts_.end() ? 0 : multicasts->second});
  if (multicasts != multicasts_.end())
    multicasts_.erase(multicasts);
  dropPuts({context, stream, kAllRuns, 0});
}

// Only an early RTR can have more iovs than the RTS allows.
bool RemoteSender::read(Buffer &buffer, std::span<const std::byte> bytes) const {
  RtrBody &body = buffer.body;
  if (bytes.size() < sizeof body)
    return false;
  std::memcpy(&body, bytes.data(), sizeof body);
  if (bytes.size() != sizeof body + body.remoteIovs * sizeof(RemoteIov) ||
      body.stay > network::Stay::Announced)
    return false;
  buffer.remoteIovs.resize(body.remoteIovs);
  if (body.remoteIovs != 0)
    std::memcpy(buffer.remoteIovs.data(), bytes.data() + sizeof body, bytes.size() - sizeof body);
  auto isEmpty = [](const RemoteIov &iov) { return iov.bytes == 0; };
  return body.remoteIovs <= context_.mostRemoteIovs() &&
         std::none_of(buffer.remoteIovs.begin(), buffer.remoteIovs.end(), isEmpty);
}

void RemoteSender::onRtr(const Header &header, std::span<const std::byte> body) {
  if (context_.isDiscarded(header.tag))
    return;
  if (header.rendezvous == network::kNoRts)
    return onEarlyRtr(header.tag, body);
  Id *id = find(header.rendezvous);
  if (!id || id->state != State::Requested || !read(id->buffer, body))
    return;
  requested_.take(id->tag);
  if (canPut(id->buffer, id->payload) && beginPut(*id))
    return;
  id->isReadable = false; // the receiver has decided
  id->state = State::Fragments;
  hasReplies_ = true;
}

// Keeps an early RTR, whose run may not have begun here, or answers a request that it fits: the
// receiver ignores such a request.
void RemoteSender::onEarlyRtr(const Tag &tag, std::span<const std::byte> body) {
  if (spare_.empty())
    spare_.push_back(&memory_.emplace_back());
  EarlyRtr &rtr = *spare_.back();
  if (!read(rtr.buffer, body) || earlyRtrs_.find(tag))
    return;
  if (rtr.buffer.body.stay != network::Stay::OneRun)
    return onStaticRtr(tag, rtr.buffer.body);
  if (Id *id = requested_.find(tag)) {
    if (!canPut(rtr.buffer, id->payload))
      return;
    requested_.take(tag);
    id->payload.registered->usesEarlyRtr = true;
    std::swap(id->buffer, rtr.buffer);
    return beginPut(*id) ? void() : sendRtsForFragments(*id);
  }
  spare_.pop_back();
  rtr.tag = tag;
  earlyRtrs_.add(rtr);
}

void RemoteSender::onFin(uint32_t rendezvous) {
  Id *id = find(rendezvous);
  if (!id)
    return;
  if (id->state == State::Cancelled)
    return free(*id);
  if (id->state != State::Requested)
    return;
  requested_.take(id->tag);
  id->state = State::Done;
  hasReplies_ = true;
}

void RemoteSender::onCancelAck(const Tag &scope) {
  if (scope.run == kAllRuns)
    drained_.add(streamOf(scope));
  else
    drained_.add(RunId{streamOf(scope), scope.run});
  for (Id &id : ids_)
    if (id.state == State::Cancelled && isOf(id.tag, scope) && !id.isOpen)
      free(id);
}

void RemoteSender::onStreamClosed(StreamId stream) {
  for (Id &id : ids_)
    if (id.state == State::Cancelled && streamOf(id.tag) == stream && !id.isOpen)
      free(id);
  dropStatic(stream);
}

void RemoteSender::dropEarlyRtr(const Tag &tag) {
  if (EarlyRtr *rtr = earlyRtrs_.take(tag))
    spare_.push_back(rtr);
  if (StaticRtr *rtr = findStatic(tag); rtr && rtr->readyRun == tag.run)
    rtr->readyRun.reset();
}

void RemoteSender::dropPuts(const Tag &scope) {
  dropStatic(streamOf(scope));
  earlyRtrs_.removeIf([&](EarlyRtr &rtr) {
    bool isGone = isOf(rtr.tag, scope);
    if (isGone)
      spare_.push_back(&rtr);
    return isGone;
  });
  for (Id &id : ids_)
    if (id.state == State::Putting && !id.isOpen && isOf(id.tag, scope)) {
      id.state = State::Done;
      hasReplies_ = true;
    }
}

bool RemoteSender::hasOpenRma(const Tag &scope) const {
  return std::any_of(ids_.begin(), ids_.end(),
                     [&](const Id &id) { return id.isOpen && isOf(id.tag, scope); });
}

} // namespace colldsl::protocol
