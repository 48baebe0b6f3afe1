// Messages of a plan that go to several peers at once.
#include "protocol/RemoteChannels.h"

namespace colldsl::protocol {

using network::CastBody;
using network::CastWay;
using network::Header;
using network::Kind;
using network::Multicast;

namespace {

constexpr uint32_t kHeadBytes = sizeof(Header) + sizeof(CastBody);
// A long message waits so long for the last receiver to want it; then it goes to one at a time.
constexpr std::chrono::nanoseconds kMostWaiting = std::chrono::milliseconds(20);

bool isAlike(const Payload &a, const Payload &b) {
  return a.bytes == b.bytes && a.count == b.count && a.always == b.always &&
         std::equal(a.pieces, a.pieces + a.count, b.pieces, [](const iovec &x, const iovec &y) {
           return x.iov_base == y.iov_base && x.iov_len == y.iov_len;
         });
}

} // namespace

// Messages of one id that are wanted at once; those of one receiver are no group.
void RemoteChannels::addCasts() {
  RemoteWorker &worker = endpoint_.worker();
  if (!worker.carrier().multicast())
    return;
  std::map<MessageId, Cast> wanted;
  for (size_t e = 0; e < out_.sends.size(); ++e)
    for (uint32_t m = 0; m < out_.numMessages(e); ++m) {
      End &end = out_.ends[out_.first[e] + m];
      if (!end.state.wantsMulticast || endpoint_.group().rankAt(end.peer) == worker.rank())
        continue;
      wanted[end.state.id].ends.push_back(&end);
      wanted[end.state.id].sends.push_back(out_.sends[e]);
    }
  for (End &end : in_.ends)
    if (end.state.wantsMulticast)
      castFrom_.emplace(std::pair(endpoint_.group().rankAt(end.peer), end.state.id), &end);
  for (auto &[id, cast] : wanted) {
    std::vector<Rank> members;
    for (const End *end : cast.ends)
      members.push_back(endpoint_.group().rankAt(end->peer));
    auto group = members.size() < 2 ? std::nullopt : worker.groupOf(members);
    if (!group)
      continue;
    Cast &added = casts_.emplace_back(std::move(cast));
    added.id = id;
    added.group = *group;
    for (End *end : added.ends)
      end->state.cast = &added;
  }
}

// False: it goes by itself.
bool RemoteChannels::gather(MessageSlot, End &end) {
  Cast &cast = *end.state.cast;
  if (cast.run != run_) {
    cast.run = run_;
    cast.gathered = 0;
    cast.state = multicast().isReady(cast.group) ? Cast::State::Gathering : Cast::State::Idle;
  }
  if (cast.state != Cast::State::Gathering)
    return false;
  if (cast.gathered == 0) {
    cast.first = &end;
  } else if (!isAlike(cast.first->payload, end.payload)) {
    split(cast);
    return false;
  }
  ++counter_.outstanding;
  if (++cast.gathered == cast.ends.size())
    launch(cast);
  return true;
}

// What was gathered goes to one at a time; it was not done when it was sent.
void RemoteChannels::split(Cast &cast) {
  cast.state = Cast::State::Idle;
  for (size_t i = 0; i < cast.ends.size(); ++i) {
    End &end = *cast.ends[i];
    if (!end.isOpen || end.tag.run != run_)
      continue;
    --counter_.outstanding;
    cast.sends[i]->send(end);
  }
}

uint64_t RemoteChannels::castBytes() const { return multicast().frameBytes() - kHeadBytes; }

void RemoteChannels::launch(Cast &cast) {
  uint64_t bytes = cast.first->payload.bytes;
  network::Mail &mail = endpoint_.worker().mail();
  auto peerOf = [this](const End *end) -> network::Peer & {
    return endpoint_.worker().peer(endpoint_.group().rankAt(end->peer));
  };
  bool hasWindow = std::all_of(cast.ends.begin(), cast.ends.end(),
                               [&](const End *end) { return mail.hasWindow(peerOf(end), bytes); });
  if (bytes <= castBytes() && hasWindow) {
    cast.state = Cast::State::ToSend;
    for (const End *end : cast.ends)
      mail.useWindow(peerOf(end), bytes);
  } else {
    request(cast);
  }
  if (!advance(cast)) {
    ++numActive_;
    endpoint_.worker().moveCasts(*this, true);
  }
}

uint64_t RemoteChannels::sendFrame(const Cast &cast, Kind kind, std::span<const std::byte> body,
                                   const CastWay &way) {
  struct {
    Header header;
    CastBody body;
  } head = {{.from = endpoint_.worker().rank(),
             .tag = tagOf(plan_, cast.run),
             .kind = Kind::Cast,
             .bodyBytes = static_cast<uint16_t>(sizeof(CastBody) + body.size())},
            {.message = cast.id, .kind = kind, .unused = {}}};
  for (size_t i = 0; i < cast.ends.size(); ++i) {
    cast.sends[i]->wire().countCast(plan_);
    ++cast.ends[i]->state.castFrames;
  }
  return multicast().cast(cast.group, std::as_bytes(std::span(&head, 1)), body, way);
}

// Bytes [offset, offset + bytes) of the message. What is in one piece stays where it is, if
// the caller waits until all have it.
uint64_t RemoteChannels::sendPart(const Cast &cast, Kind kind, uint64_t offset, uint64_t bytes) {
  const Payload &payload = cast.first->payload;
  bool isLast = offset + bytes == payload.bytes, isLong = kind == Kind::Fragment;
  if (payload.count == 1) {
    auto *begin = static_cast<const std::byte *>(payload.pieces[0].iov_base);
    return sendFrame(cast, kind, {begin + offset, bytes}, {isLong, isLong && isLast});
  }
  together_.resize(bytes);
  colldsl::gather(together_.data(), payload, offset, bytes);
  return sendFrame(cast, kind, together_, {false, isLong && isLast});
}

// True: nothing is left of it.
bool RemoteChannels::advance(Cast &cast) {
  switch (cast.state) {
  case Cast::State::Idle:
  case Cast::State::Gathering:
    return true;
  case Cast::State::ToSend:
    if (!multicast().hasRoom(cast.group))
      return false;
    sendPart(cast, Kind::Eager, 0, cast.first->payload.bytes);
    return finish(cast);
  case Cast::State::Requested:
    return checkRequested(cast);
  case Cast::State::Sending:
    return sendParts(cast);
  case Cast::State::Sent:
    return multicast().isHeard(cast.group, cast.number) && finish(cast);
  }
  return true;
}

bool RemoteChannels::castAll() {
  bool moved = false;
  for (Cast &cast : casts_) {
    bool isActive = cast.state != Cast::State::Idle && cast.state != Cast::State::Gathering;
    if (!isActive || !advance(cast))
      continue;
    moved = true;
    --numActive_;
  }
  if (numActive_ == 0)
    endpoint_.worker().moveCasts(*this, false);
  return moved;
}

// What was requested is no longer counted here, but by its requests.
bool RemoteChannels::finish(Cast &cast) {
  bool wasRequested = cast.state != Cast::State::ToSend;
  cast.state = Cast::State::Idle;
  for (size_t i = 0; i < cast.ends.size(); ++i) {
    End &end = *cast.ends[i];
    end.holdsFragments = false;
    if (wasRequested) {
      cast.sends[i]->completeHeld(end);
    } else {
      end.transferred = end.payload.bytes;
      end.complete();
    }
  }
  return true;
}

// Each receiver is asked; none is to read the message, or to be written.
void RemoteChannels::request(Cast &cast) {
  cast.state = Cast::State::Requested;
  cast.until = Clock::now() + kMostWaiting;
  cast.sentBytes = 0;
  for (size_t i = 0; i < cast.ends.size(); ++i) {
    End &end = *cast.ends[i];
    end.payload.registered = nullptr;
    end.holdsFragments = true;
    Protocol protocol = std::exchange(end.protocol, Protocol::Rendezvous);
    --counter_.outstanding;
    cast.sends[i]->send(end);
    end.protocol = protocol;
    end.payload.registered = &end.state.memory;
    endpoint_.expect(end);
  }
}

// Who wants it after all others have waited gets it when it does.
bool RemoteChannels::checkRequested(Cast &cast) {
  bool isWanted =
      std::all_of(cast.ends.begin(), cast.ends.end(), [](const End *end) { return end->isHeld; });
  if (isWanted) {
    cast.state = Cast::State::Sending;
    for (End *end : cast.ends)
      endpoint_.expectNoMore(*end);
    return sendParts(cast);
  }
  if (Clock::now() < cast.until)
    return false;
  cast.state = Cast::State::Idle;
  for (size_t i = 0; i < cast.ends.size(); ++i) {
    cast.ends[i]->holdsFragments = false;
    if (cast.ends[i]->isHeld)
      cast.sends[i]->sendFragments(*cast.ends[i]);
  }
  return true;
}

bool RemoteChannels::sendParts(Cast &cast) {
  uint64_t all = cast.first->payload.bytes;
  while (cast.sentBytes < all && multicast().hasRoom(cast.group)) {
    uint64_t bytes = std::min(castBytes(), all - cast.sentBytes);
    cast.number = sendPart(cast, Kind::Fragment, cast.sentBytes, bytes);
    cast.sentBytes += bytes;
  }
  if (cast.sentBytes == all)
    cast.state = Cast::State::Sent;
  return false;
}

// Both ends know by its name which message a frame is of.
void RemoteChannels::onCast(Rank root, const Tag &run, const CastBody &cast,
                            std::span<const std::byte> bytes) {
  ++castsFrom_[root];
  auto found = castFrom_.find({root, cast.message});
  RemoteWorker &worker = endpoint_.worker();
  if (found == castFrom_.end()) {
    if (cast.kind == Kind::Eager)
      worker.mail().consume(worker.peer(root), bytes.size());
    return;
  }
  End &end = *found->second;
  ++end.state.castFrames;
  RemoteReceiver &receiver = worker.receivesFrom(root).wire();
  Tag tag = end.tag;
  tag.run = run.run;
  if (cast.kind == Kind::Eager)
    receiver.onEager(tag, bytes);
  else if (cast.kind == Kind::Fragment && end.tag.run == run.run)
    receiver.onFragmentFor(end, bytes);
}

} // namespace colldsl::protocol
