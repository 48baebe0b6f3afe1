// Messages that go to several peers at once, where the carrier has groups. They are gathered as
// they are sent, and what is not complete, or not alike, by the next poll goes to one peer at a
// time.
#include "transports/network/NetworkChannels.h"

#include <algorithm>

namespace colldsl::network {
namespace {

using Clock = std::chrono::steady_clock;

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
void NetworkChannels::addCasts() {
  Multicast *multicast = endpoint_.carrier_->multicast();
  if (!multicast)
    return;
  std::map<MessageId, std::vector<End *>> wanted;
  for (End &end : out_.ends)
    if (end.way.multicast && !end.peer->isSelf)
      wanted[end.id].push_back(&end);
  for (End &end : in_.ends)
    if (end.way.multicast)
      castFrom_.emplace(std::pair(end.peer->rank, end.id), &end);
  for (auto &[id, ends] : wanted) {
    auto group = ends.size() < 2 ? std::nullopt : endpoint_.groupOf(ends);
    if (!group)
      continue;
    Cast &cast = casts_.emplace_back();
    cast.id = id;
    cast.group = *group;
    cast.ends = std::move(ends);
    cast.channels = this;
    for (End *end : cast.ends)
      end->cast = &cast;
  }
}

// False: it goes by itself.
bool NetworkChannels::gather(End &end) {
  Cast &cast = *end.cast;
  if (cast.run != run_) {
    cast.run = run_;
    cast.gathered = 0;
    cast.state = endpoint_.carrier_->multicast()->isReady(cast.group) ? Cast::State::Gathering
                                                                      : Cast::State::Idle;
  }
  if (cast.state != Cast::State::Gathering)
    return false;
  if (cast.gathered == 0) {
    gathering_.push_back(&cast);
    cast.first = &end;
  } else if (!isAlike(cast.first->payload, end.payload)) {
    split(cast);
    return false;
  }
  end.state = End::State::Cast;
  if (++cast.gathered == cast.ends.size())
    launch(cast);
  return true;
}

// What was gathered goes to one at a time.
void NetworkChannels::split(Cast &cast) {
  std::erase(gathering_, &cast);
  cast.state = Cast::State::Idle;
  for (End *end : cast.ends)
    if (end->state == End::State::Cast && sendAlone(*end) == Posted::Done)
      finish(*end);
}

void NetworkChannels::splitGathered() {
  while (!gathering_.empty())
    split(*gathering_.back());
}

uint64_t NetworkChannels::castBytes() const {
  return endpoint_.carrier_->multicast()->frameBytes() - kHeadBytes;
}

void NetworkChannels::launch(Cast &cast) {
  std::erase(gathering_, &cast);
  uint64_t bytes = cast.first->bytes;
  bool hasWindow = std::all_of(cast.ends.begin(), cast.ends.end(), [&](const End *end) {
    return endpoint_.mail_->hasWindow(*end->peer, bytes);
  });
  bool isEager = bytes <= castBytes() && hasWindow;
  cast.state = isEager ? Cast::State::ToSay : Cast::State::ToAsk;
  if (isEager)
    for (End *end : cast.ends)
      endpoint_.mail_->useWindow(*end->peer, bytes);
  if (!advance(cast))
    endpoint_.casting_.push_back(&cast);
}

uint64_t NetworkChannels::say(Cast &cast, Kind kind, std::span<const std::byte> body,
                              const CastWay &way) {
  struct {
    Header header;
    CastBody body;
  } head = {{.from = endpoint_.self_,
             .plan = plan_,
             .run = cast.run,
             .kind = Kind::Cast,
             .bodyBytes = static_cast<uint16_t>(sizeof(CastBody) + body.size())},
            {.message = cast.id, .kind = kind, .unused = {}}};
  for (End *end : cast.ends) {
    ++castsTo_[end->peer->rank];
    ++end->castFrames;
  }
  return endpoint_.carrier_->multicast()->cast(cast.group, std::as_bytes(std::span(&head, 1)), body,
                                               way);
}

// Bytes [offset, offset + bytes) of the message. What is in one piece stays where it is, if
// somebody waits until all have heard it.
uint64_t NetworkChannels::sayPart(Cast &cast, Kind kind, uint64_t offset, uint64_t bytes) {
  const Payload &payload = cast.first->payload;
  bool isLast = offset + bytes == payload.bytes, isLong = kind == Kind::Fragment;
  if (payload.count == 1) {
    auto *begin = static_cast<const std::byte *>(payload.pieces[0].iov_base);
    return say(cast, kind, {begin + offset, bytes}, {isLong, isLong && isLast});
  }
  std::vector<std::byte> &together = endpoint_.together_;
  together.resize(bytes);
  colldsl::gather(together.data(), payload, offset, bytes);
  return say(cast, kind, together, {false, isLong && isLast});
}

// True: nothing is left of it.
bool NetworkChannels::advance(Cast &cast) {
  Multicast &multicast = *endpoint_.carrier_->multicast();
  switch (cast.state) {
  case Cast::State::Idle:
  case Cast::State::Gathering:
    return true;
  case Cast::State::ToSay:
    if (!multicast.hasRoom(cast.group))
      return false;
    sayPart(cast, Kind::Eager, 0, cast.first->bytes);
    return finish(cast);
  case Cast::State::ToAsk:
    return multicast.hasRoom(cast.group) && askAll(cast);
  case Cast::State::Asked:
    return Clock::now() >= cast.until && splitAsked(cast);
  case Cast::State::Saying:
    return sayParts(cast);
  case Cast::State::Said:
    return multicast.isHeard(cast.group, cast.number) && finish(cast);
  }
  return true;
}

bool NetworkChannels::finish(Cast &cast) {
  cast.state = Cast::State::Idle;
  for (End *end : cast.ends)
    finish(*end);
  return true;
}

bool NetworkChannels::askAll(Cast &cast) {
  RequestBody body = {
      .bytes = cast.first->bytes, .address = 0, .key = 0, .isReadable = 0, .stretches = 0};
  say(cast, Kind::Request, std::as_bytes(std::span(&body, 1)), {});
  cast.state = Cast::State::Asked;
  cast.until = Clock::now() + kMostWaiting;
  cast.wanted = 0;
  for (End *end : cast.ends) {
    end->state = End::State::Asked;
    await(*end);
  }
  return false;
}

// Its receiver wants it. False: by itself.
bool NetworkChannels::noteWanted(End &end) {
  if (!end.cast || end.cast->state != Cast::State::Asked)
    return false;
  Cast &cast = *end.cast;
  end.state = End::State::Cast;
  awaitNoMore(end);
  if (++cast.wanted == cast.ends.size())
    cast.state = Cast::State::Saying;
  return true;
}

// Who wants it gets it; the others when they do.
bool NetworkChannels::splitAsked(Cast &cast) {
  cast.state = Cast::State::Idle;
  for (End *end : cast.ends)
    if (end->state == End::State::Cast)
      letGo(*end);
  return true;
}

bool NetworkChannels::sayParts(Cast &cast) {
  End &first = *cast.first;
  while (first.moved < first.bytes && endpoint_.carrier_->multicast()->hasRoom(cast.group)) {
    uint64_t bytes = std::min(castBytes(), first.bytes - first.moved);
    cast.number = sayPart(cast, Kind::Fragment, first.moved, bytes);
    first.moved += bytes;
  }
  if (first.moved == first.bytes)
    cast.state = Cast::State::Said;
  return false;
}

// A frame of a group: which message it is of both ends know by its name.
void NetworkChannels::onCast(Peer &from, Header header, std::span<const std::byte> bytes) {
  CastBody body;
  std::memcpy(&body, bytes.data(), sizeof body);
  ++castsFrom_[from.rank];
  auto end = castFrom_.find({from.rank, body.message});
  bool isFine = end != castFrom_.end() && (body.kind == Kind::Eager || body.kind == Kind::Request ||
                                           body.kind == Kind::Fragment);
  if (!isFine)
    return endpoint_.drop(from, header, bytes);
  ++end->second->castFrames;
  header.kind = body.kind;
  header.message = end->second->message;
  onFrame(from, header, bytes.subspan(sizeof body));
}

// The carrier copies what it keeps.
void NetworkChannels::closeCasts() {
  for (Cast &cast : casts_) {
    std::erase(endpoint_.casting_, &cast);
    if (cast.state == Cast::State::ToSay)
      for (End *end : cast.ends)
        endpoint_.mail_->leaveWindow(*end->peer, cast.first->bytes);
    if (cast.state == Cast::State::Saying || cast.state == Cast::State::Said)
      endpoint_.carrier_->multicast()->letGo(cast.group);
  }
}

// What the endpoint does of it.

std::optional<Multicast::Group> NetworkEndpoint::groupOf(const std::vector<End *> &ends) {
  std::vector<Peer *> members;
  std::vector<Rank> ranks;
  for (const End *end : ends) {
    members.push_back(end->peer);
    ranks.push_back(end->peer->rank);
  }
  if (auto known = groups_.find(ranks); known != groups_.end())
    return known->second;
  Result<Multicast::Group> made = carrier_->multicast()->found(members);
  auto group = made ? std::optional(*made) : std::nullopt;
  groups_.emplace(std::move(ranks), group);
  return group;
}

bool NetworkEndpoint::castAll() {
  size_t before = casting_.size();
  for (Cast *cast : std::vector<Cast *>(casting_))
    if (cast->channels->advance(*cast))
      std::erase(casting_, cast);
  return casting_.size() < before;
}

void NetworkEndpoint::onCast(Peer &root, std::span<const std::byte> frame) {
  Header header;
  bool isLong = frame.size() >= kHeadBytes;
  std::memcpy(&header, frame.data(), std::min(frame.size(), sizeof header));
  if (isLong && header.kind == Kind::Cast && header.bodyBytes == frame.size() - sizeof header)
    onPlanFrame(root, header, frame.subspan(sizeof header));
}

void NetworkEndpoint::sayFor(Peer &to, std::span<const std::byte> bytes) {
  mail_->say(to, {.kind = Kind::Group}, bytes);
}

} // namespace colldsl::network
