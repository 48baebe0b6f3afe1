// The sending ends of a plan's messages, and what both ends do alike.
#include "transports/network/NetworkChannels.h"

#include <algorithm>

namespace colldsl::network {

Posted NetworkChannels::send(MessageSlot slot, OpId op, const Payload &payload) {
  std::lock_guard lock(endpoint_.mutex_);
  End &end = begin(out_, slot, op, payload);
  if (payload.bytes == 0 && !payload.always) {
    end.isSkipped = true;
    return Posted::Done;
  }
  if (end.comesLate && end.placeRun != run_ && canMove(end))
    endpoint_.progress(); // it may be there
  return end.cast && gather(end) ? Posted::Pending : sendAlone(end);
}

Posted NetworkChannels::sendAlone(End &end) {
  Mail &mail = *endpoint_.mail_;
  bool isEager = end.bytes <= endpoint_.options_.eagerBytes;
  bool isPlaced =
      end.placeRun == run_ && end.place.bytes == end.bytes && canMove(end) && canGather(end);
  if (isEager && !isPlaced && mail.hasWindow(*end.peer, end.bytes) && mail.hasFrame(end.bytes)) {
    mail.sayEager(*end.peer, headerOf(Kind::Eager, end), end.payload);
    return Posted::Done;
  }
  if (isPlaced)
    move(end);
  else
    ask(end);
  if (end.state != End::State::Idle)
    await(end);
  return Posted::Pending;
}

// This end reads or writes.
bool NetworkChannels::canMove(const End &end) const {
  const Powers &powers = endpoint_.carrier_->powers();
  return powers.moves && end.bytes <= powers.moveBytes && !end.peer->isSelf &&
         end.bytes > endpoint_.options_.directBytes && end.payload.count <= powers.pieces &&
         (!powers.local || isDense(end.payload));
}

bool NetworkChannels::canGather(End &end) {
  bool isSimple = end.payload.count == 1 || !endpoint_.carrier_->powers().local;
  return isSimple || know(end, end.sends ? Access::Write : Access::Read);
}

// Memory that must not be given back is not kept registered in case it might be read.
void NetworkChannels::ask(End &end) {
  end.state = End::State::Asked;
  RequestBody body = {.bytes = end.bytes, .address = 0, .key = 0, .isReadable = 0, .stretches = 0};
  if (canMove(end) && canGather(end))
    body.stretches = mostStretches();
  bool mayRead = end.way.mover == Mover::Reader || !endpoint_.carrier_->powers().pins;
  if (canMove(end) && end.payload.count == 1 && mayRead && know(end, Access::RemoteRead)) {
    void *begin = end.payload.pieces[0].iov_base;
    body.isReadable = end.mayBeRead = true;
    body.address = endpoint_.carrier_->named(begin, begin);
    body.key = end.region.key();
  }
  endpoint_.mail_->say(*end.peer, headerOf(Kind::Request, end), body);
}

uint32_t NetworkChannels::mostStretches() const {
  return std::min(kMostStretches, endpoint_.carrier_->powers().stretches);
}

// One of more stretches than were said to be taken can only be one that nobody asked for.
bool NetworkChannels::readPlace(End &end, std::span<const std::byte> bytes) {
  PlaceBody place;
  if (bytes.size() < sizeof place)
    return false;
  std::memcpy(&place, bytes.data(), sizeof place);
  if (bytes.size() != sizeof place + place.stretches * sizeof(Stretch))
    return false;
  end.stretches.resize(place.stretches);
  if (place.stretches != 0)
    std::memcpy(end.stretches.data(), bytes.data() + sizeof place, bytes.size() - sizeof place);
  end.place = place;
  auto isEmpty = [](const Stretch &stretch) { return stretch.bytes == 0; };
  return place.stretches <= mostStretches() &&
         std::none_of(end.stretches.begin(), end.stretches.end(), isEmpty);
}

// An answer, or, before it was asked for, for a run that may not have begun here.
void NetworkChannels::onPlace(Peer &from, const Header &header, std::span<const std::byte> bytes) {
  End *end = find(out_, from.rank, header.message);
  if (!end || end->state == End::State::ToMove || !readPlace(*end, bytes))
    return;
  bool isAsked = end->state == End::State::Asked && end->run == header.run;
  if (end->place.isUnasked) {
    end->comesLate = true;
    end->placeRun = header.run;
    if (isAsked && end->place.bytes == end->bytes && canMove(*end) && canGather(*end)) {
      end->mayBeRead = false; // the receiver counts on that
      move(*end);
    }
    return;
  }
  if (!isAsked || end->place.bytes != end->bytes)
    return;
  end->mayBeRead = false; // the receiver has decided
  if (end->place.isWritable && canMove(*end))
    return move(*end);
  if (!noteWanted(*end))
    letGo(*end);
}

// In parts.
void NetworkChannels::letGo(End &end) {
  end.state = End::State::Streaming;
  if (!endpoint_.stream(end))
    endpoint_.streaming_.push_back(&end);
}

void NetworkChannels::onRead(Peer &from, const Header &header) {
  End *end = find(out_, from.rank, header.message);
  if (!end || end->run != header.run)
    return;
  end->mayBeRead = false;
  if (end->state == End::State::Asked)
    finish(*end);
}

// Registered memory is kept with the message: the next run mostly has the same buffer.
bool NetworkChannels::know(End &end, Access access) {
  iovec memory = spanOf(end.payload);
  bool isKnown = end.region && memory.iov_base == end.regionOf.iov_base &&
                 memory.iov_len == end.regionOf.iov_len && end.regionAccess == access;
  if (isKnown)
    return true;
  end.region.reset();
  Result<Region> region = endpoint_.carrier_->know(memory, access);
  if (!region)
    return false;
  end.region = region.take();
  end.regionOf = memory;
  end.regionAccess = access;
  return true;
}

// Writes or reads `place`, now or later; nothing once the plan failed.
void NetworkChannels::move(End &end) {
  if (endpoint_.hasFailed(plan_))
    return;
  if (end.sends)
    end.written = end.run;
  else
    end.beganAt = std::chrono::steady_clock::now();
  Access access = end.sends ? Access::Write : Access::Read;
  if (endpoint_.carrier_->powers().local && !know(end, access))
    return failAt({end.peer->rank, end.op, "no memory could be registered", ErrorKind::NoMemory});
  MoveSpec spec = {.address = end.place.address,
                   .stretches = end.stretches,
                   .key = end.place.key,
                   .bytes = end.bytes,
                   .ticket = end.place.ticket};
  for (uint64_t left = end.bytes; spec.count < end.payload.count && left > 0; ++spec.count) {
    iovec &piece = spec.pieces[spec.count] = end.payload.pieces[spec.count];
    piece.iov_len = std::min<uint64_t>(left, piece.iov_len);
    left -= piece.iov_len;
    spec.descriptors[spec.count] = end.region.descriptor();
  }
  end.state = End::State::Moving;
  if (endpoint_.mail_->move(end, spec, end.sends))
    return;
  end.state = End::State::ToMove;
  endpoint_.toMove_.push_back(&end);
}

// What a sender failed with may be read from memory that it uses again. It waits for `linger`
// before it does; after a read that took nearly as long the sender is asked.
void NetworkChannels::afterMove(End &end) {
  bool isFailed = endpoint_.hasFailed(plan_);
  if (isFailed)
    sayDrained();
  if (end.sends)
    return finish(end);
  if (isFailed)
    return;
  if (std::chrono::steady_clock::now() - end.beganAt < endpoint_.linger() / 2)
    return finishRead(end);
  end.state = End::State::ToConfirm;
  endpoint_.mail_->say(*end.peer, headerOf(Kind::HowFar, end), DoubtBody{.sends = end.sends});
}

void NetworkChannels::finishRead(End &end) {
  endpoint_.mail_->say(*end.peer, headerOf(Kind::Read, end), std::span<const std::byte>());
  finish(end);
}

} // namespace colldsl::network
