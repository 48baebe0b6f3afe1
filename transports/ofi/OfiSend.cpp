// The sending ends of a plan's messages, and what both ends do alike.
#include "transports/ofi/OfiChannels.h"

#include <algorithm>

namespace colldsl::ofi {

Posted OfiChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  std::lock_guard lock(endpoint_.mutex_);
  Mail &mail = *endpoint_.mail_;
  End &end = begin(out_, slot, op, payload);
  bool isEager = payload.bytes <= endpoint_.options_.eagerBytes;
  if (isEager && mail.hasWindow(*end.peer, payload.bytes)) {
    mail.sayEager(*end.peer, headerOf(Kind::Eager, end), payload);
    return Posted::Done;
  }
  if (end.placeRun == run_ && end.place.bytes == payload.bytes && canMove(end))
    move(end);
  else
    ask(end);
  return Posted::Pending;
}

// Pieces of memory that one read or write may name; the provider has to know each by itself
// where it has to know them at all.
uint32_t OfiChannels::mostPieces() const {
  const Fabric::Powers &powers = endpoint_.fabric_->powers();
  return powers.local ? 1 : powers.pieces;
}

bool OfiChannels::canMove(const End &end) const {
  return endpoint_.fabric_->powers().moves && !end.peer->isSelf &&
         end.bytes > endpoint_.options_.eagerBytes && end.payload.count <= mostPieces();
}

// Memory that must not be given back is not kept registered in case it might be read.
void OfiChannels::ask(End &end) {
  end.state = End::State::Asked;
  RequestBody body = {.bytes = end.bytes, .address = 0, .key = 0, .isReadable = 0, .canWrite = 0};
  body.canWrite = canMove(end);
  bool mayRead = end.way.mover == Mover::Reader || !endpoint_.fabric_->powers().pins;
  if (canMove(end) && end.payload.count == 1 && mayRead && know(end, FI_REMOTE_READ)) {
    void *begin = end.payload.pieces[0].iov_base;
    body.isReadable = 1;
    body.address = endpoint_.fabric_->named(begin, begin);
    body.key = end.region.key();
  }
  endpoint_.mail_->say(*end.peer, headerOf(Kind::Request, end), body);
}

// An answer, or, before it was asked for, for a run that may not have begun here.
void OfiChannels::onPlace(Peer &from, const Header &header, const PlaceBody &body) {
  End *end = find(out_, from.rank, header.message);
  if (!end)
    return;
  bool isAsked = end->state == End::State::Asked && end->run == header.run;
  if (body.isUnasked) {
    end->place = body;
    end->placeRun = header.run;
    if (isAsked && body.bytes == end->bytes && canMove(*end))
      move(*end);
    return;
  }
  if (!isAsked || body.bytes != end->bytes)
    return;
  if (body.isWritable && canMove(*end)) {
    end->place = body;
    return move(*end);
  }
  end->state = End::State::Streaming;
  if (!endpoint_.stream(*end))
    endpoint_.streaming_.push_back(end);
}

void OfiChannels::onRead(Peer &from, const Header &header) {
  End *end = find(out_, from.rank, header.message);
  if (end && end->state == End::State::Asked && end->run == header.run)
    finish(*end);
}

// Registered memory is kept with the message: the next run mostly has the same buffer.
bool OfiChannels::know(End &end, uint64_t access) {
  const iovec &memory = end.payload.pieces[0];
  bool isKnown = end.region && memory.iov_base == end.regionOf.iov_base &&
                 memory.iov_len == end.regionOf.iov_len && (end.regionAccess & access) == access;
  if (isKnown)
    return true;
  end.region.reset();
  Result<Region> region = endpoint_.fabric_->know(memory, access);
  if (!region)
    return false;
  end.region = region.take();
  end.regionOf = memory;
  end.regionAccess = access;
  return true;
}

// Writes or reads `place`, now or later.
void OfiChannels::move(End &end) {
  uint64_t access = end.sends ? FI_WRITE : FI_READ;
  if (endpoint_.fabric_->powers().local && !know(end, access))
    return failAt({end.peer->rank, end.op, "no memory could be registered", ErrorKind::NoMemory});
  iovec pieces[kMostPieces];
  void *descriptors[kMostPieces];
  uint64_t left = end.bytes;
  uint32_t count = 0;
  for (; count < end.payload.count && left > 0; ++count) {
    pieces[count] = end.payload.pieces[count];
    pieces[count].iov_len = std::min<uint64_t>(left, pieces[count].iov_len);
    left -= pieces[count].iov_len;
    descriptors[count] = end.region.descriptor();
  }
  fi_rma_iov there = {end.place.address, end.bytes, end.place.key};
  fi_msg_rma message = {};
  message.msg_iov = pieces;
  message.desc = end.region ? descriptors : nullptr;
  message.iov_count = count;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.data = end.place.ticket;
  end.state = End::State::Moving;
  if (endpoint_.mail_->move(end, message, end.sends))
    return;
  end.state = End::State::ToMove;
  endpoint_.toMove_.push_back(&end);
}

void OfiChannels::afterMove(End &end) {
  if (!end.sends)
    endpoint_.mail_->say(*end.peer, headerOf(Kind::Read, end), std::span<const std::byte>());
  finish(end);
}

} // namespace colldsl::ofi
