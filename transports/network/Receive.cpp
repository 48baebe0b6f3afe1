// The receiving ends of a plan's messages.
#include "transports/network/NetworkChannels.h"

#include <algorithm>

namespace colldsl::network {
namespace {

/// What a frame holds, if it holds just that.
template <typename Body> std::optional<Body> bodyOf(std::span<const std::byte> bytes) {
  Body body;
  if (bytes.size() != sizeof body)
    return std::nullopt;
  std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

} // namespace

Posted NetworkChannels::recv(MessageSlot slot, OpId op, const Payload &payload) {
  std::lock_guard lock(endpoint_.mutex_);
  End &end = begin(in_, slot, op, payload);
  size_t before = fresh_.size();
  if (payload.bytes == 0 && !payload.always) {
    end.isSkipped = true;
    if (!takeAside(end))
      finish(end);
  } else {
    end.state = End::State::Posted;
    if (!takeAside(end))
      announce(end);
  }
  if (end.state != End::State::Idle)
    await(end);
  adoptFault();
  if (failed())
    return Posted::Failed;
  if (fresh_.size() == before || payload.upTo)
    return Posted::Pending;
  fresh_.pop_back();
  return Posted::Done;
}

// Those whose schedule has buffers that stay; and those that were asked about last time when they
// were posted already.
void NetworkChannels::announce(End &end) {
  bool isStatic = end.way.protocol == Protocol::Static && !end.payload.upTo;
  bool isMeant = end.comesLate && end.way.mover != Mover::Reader && !end.payload.upTo;
  if ((isStatic || isMeant) && canBeWritten(end))
    letWrite(end, true);
}

void NetworkChannels::onFrame(Peer &from, const Header &header, std::span<const std::byte> body) {
  bool isOfMessage = header.kind != Kind::Closed && header.kind != Kind::Drained;
  if (isCancelled_ && isOfMessage && header.kind != Kind::Read)
    return endpoint_.drop(from, header, body);
  switch (header.kind) {
  case Kind::Eager:
  case Kind::Request:
    return onMessage(from, header, body);
  case Kind::Fragment:
    return onFragment(from, header, body);
  case Kind::Place:
    return onPlace(from, header, body);
  case Kind::Read:
    return onRead(from, header);
  case Kind::Closed:
    if (auto closed = bodyOf<ClosedBody>(body))
      closedThere_.emplace(from.rank, closed->casts);
    return;
  case Kind::Drained:
    drainedThere_.insert(from.rank);
    return;
  case Kind::HowFar:
    if (auto doubt = bodyOf<DoubtBody>(body))
      onHowFar(from, header, *doubt);
    return;
  case Kind::SoFar:
    if (auto doubt = bodyOf<DoubtBody>(body))
      onSoFar(from, header, *doubt);
    return;
  case Kind::Cast:
    return onCast(from, header, body);
  case Kind::Failed:
  case Kind::Credit:
  case Kind::Group:
  case Kind::Goodbye:
  case Kind::Farewell:
    return; // of no plan
  }
}

void NetworkChannels::onMessage(Peer &from, const Header &header, std::span<const std::byte> body) {
  End *end = find(in_, from.rank, header.message);
  bool isRequest = header.kind == Kind::Request;
  std::optional<RequestBody> request = bodyOf<RequestBody>(body);
  auto ahead = static_cast<int32_t>(header.run - run_);
  bool isKnown = end && end->run == header.run;
  if (!end || ahead < 0 || (isRequest && !request))
    return endpoint_.drop(from, header, body);
  if (!isKnown)
    return setAside(*end, header, body);
  if (end->isSkipped) // its sender may wait
    return refuse(*end, header, isRequest ? request->bytes : body.size());
  bool isWanted = end->state == End::State::Posted || end->state == End::State::Announced;
  if (!isWanted)
    return endpoint_.drop(from, header, body); // it came before
  end->comesLate = isRequest;
  if (isRequest)
    decide(*end, *request);
  else
    deliver(*end, body);
}

// This rank has no bytes for it, is perhaps through with its run, and does not look.
void NetworkChannels::refuse(End &end, const Header &header, uint64_t bytes) {
  if (header.kind == Kind::Eager)
    endpoint_.mail_->consume(*end.peer, bytes);
  Fault fault = sizeMismatch(end.peer->rank, end.op, end.payload, bytes);
  failAt(fault);
  endpoint_.report(plan_, fault);
}

void NetworkChannels::setAside(const End &end, const Header &header,
                               std::span<const std::byte> body) {
  Key key{&end, header.run};
  if (aside_.count(key) != 0)
    return endpoint_.drop(*end.peer, header, body);
  if (spare_.empty()) {
    aside_.emplace(key, Aside{header.kind, {body.begin(), body.end()}});
    return;
  }
  auto node = std::move(spare_.back());
  spare_.pop_back();
  node.key() = key;
  node.mapped().kind = header.kind;
  node.mapped().body.assign(body.begin(), body.end());
  aside_.insert(std::move(node));
}

bool NetworkChannels::takeAside(End &end) {
  if (aside_.empty())
    return false;
  auto node = aside_.extract(Key{&end, end.run});
  if (!node)
    return false;
  const Aside &aside = node.mapped();
  end.comesLate = false;
  if (aside.kind == Kind::Eager)
    deliver(end, aside.body);
  else
    decide(end, *bodyOf<RequestBody>(aside.body));
  spare_.push_back(std::move(node));
  return true;
}

void NetworkChannels::deliver(End &end, std::span<const std::byte> bytes) {
  endpoint_.retire(end);
  endpoint_.mail_->consume(*end.peer, bytes.size());
  if (!accepts(end.payload, bytes.size()))
    return failAt(sizeMismatch(end.peer->rank, end.op, end.payload, bytes.size()));
  scatter(end.payload, 0, bytes.data(), bytes.size());
  end.bytes = bytes.size();
  finish(end);
}

// A sender that can use what was announced does so, and needs no answer.
void NetworkChannels::decide(End &end, const RequestBody &request) {
  bool isAnnounced = end.state == End::State::Announced;
  bool canBeSpread = request.stretches >= end.payload.count;
  if (isAnnounced && canBeSpread && request.bytes == end.bytes)
    return;
  endpoint_.retire(end);
  if (!accepts(end.payload, request.bytes))
    return failAt(sizeMismatch(end.peer->rank, end.op, end.payload, request.bytes));
  end.bytes = request.bytes;
  bool canWrite = canBeSpread && canBeWritten(end);
  bool reads = request.isReadable && (end.way.mover == Mover::Reader || !canWrite);
  if (reads && canMove(end) && canGather(end))
    return read(end, request);
  if (canWrite)
    return letWrite(end, false);
  letStream(end);
}

// The other end writes.
bool NetworkChannels::canBeWritten(const End &end) const {
  const Powers &powers = endpoint_.carrier_->powers();
  return powers.moves && end.bytes <= powers.moveBytes && !end.peer->isSelf &&
         end.bytes > endpoint_.options_.directBytes && end.payload.count <= powers.stretches &&
         isDense(end.payload);
}

void NetworkChannels::letWrite(End &end, bool isUnasked) {
  if (!know(end, Access::RemoteWrite)) {
    if (!isUnasked)
      letStream(end);
    return;
  }
  end.state = End::State::Announced;
  sayPlace(end, isUnasked);
}

void NetworkChannels::sayPlace(End &end, bool isUnasked) {
  struct {
    PlaceBody body;
    Stretch stretches[kMostStretches];
  } place = {};
  PlaceBody &body = place.body;
  void *begin = end.regionOf.iov_base;
  body.bytes = end.bytes;
  body.address = endpoint_.carrier_->named(begin, begin);
  body.key = end.region.key();
  body.ticket = endpoint_.ticketFor(end);
  body.isWritable = 1;
  body.isUnasked = isUnasked;
  uint64_t left = end.bytes;
  for (uint32_t i = 0; end.payload.count > 1 && left > 0; ++i) {
    const iovec &piece = end.payload.pieces[i];
    uint64_t bytes = std::min<uint64_t>(left, piece.iov_len);
    place.stretches[body.stretches++] = {endpoint_.carrier_->named(piece.iov_base, begin), bytes};
    left -= bytes;
  }
  auto bytes = std::as_bytes(std::span(&place, 1));
  endpoint_.mail_->say(*end.peer, headerOf(Kind::Place, end),
                       bytes.first(sizeof body + body.stretches * sizeof(Stretch)));
}

void NetworkChannels::letStream(End &end) {
  if (end.bytes == 0) {
    endpoint_.mail_->say(*end.peer, headerOf(Kind::Read, end), std::span<const std::byte>());
    return finish(end);
  }
  end.state = End::State::Streaming;
  PlaceBody body = {};
  body.bytes = end.bytes;
  endpoint_.mail_->say(*end.peer, headerOf(Kind::Place, end), body);
}

// Not before all that came is taken: the sender may have failed meanwhile.
void NetworkChannels::read(End &end, const RequestBody &request) {
  end.place = {};
  end.stretches.clear();
  end.place.address = request.address;
  end.place.key = request.key;
  end.state = End::State::ToMove;
  endpoint_.toMove_.push_back(&end);
}

void NetworkChannels::onFragment(Peer &from, const Header &header,
                                 std::span<const std::byte> body) {
  End *end = find(in_, from.rank, header.message);
  bool isWanted = end && end->state == End::State::Streaming && end->run == header.run;
  if (!isWanted || body.size() > end->bytes - end->moved)
    return;
  scatter(end->payload, end->moved, body.data(), body.size());
  end->moved += body.size();
  if (end->moved == end->bytes)
    finish(*end);
}

} // namespace colldsl::network
