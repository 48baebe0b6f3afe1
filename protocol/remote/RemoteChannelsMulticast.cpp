// Messages of a plan that go to several peers at once.
#include "protocol/remote/RemoteChannels.h"

namespace colldsl::protocol {

using network::Header;
using network::Kind;
using network::Multicast;
using network::MulticastBody;
using network::MulticastFlags;

namespace {

constexpr uint32_t kHeadBytes = sizeof(Header) + sizeof(MulticastBody);
// A long message waits so long for the last receiver to want it; then it goes to each by itself.
constexpr std::chrono::nanoseconds kMaxWaiting = std::chrono::milliseconds(20);

bool isAlike(const Payload &a, const Payload &b) {
  return a.bytes == b.bytes && a.count == b.count && a.always == b.always &&
         std::equal(a.pieces, a.pieces + a.count, b.pieces, [](const iovec &x, const iovec &y) {
           return x.iov_base == y.iov_base && x.iov_len == y.iov_len;
         });
}

} // namespace

// Gathers the messages of each id that are to go at once; a single receiver is no group.
void RemoteChannels::addMulticasts() {
  RemoteWorker &worker = endpoint_.worker();
  if (!worker.transport().multicast())
    return;
  std::map<MessageId, MulticastRequest> wanted;
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
      multicastFrom_.emplace(std::pair(endpoint_.group().rankAt(end.peer), end.state.id), &end);
  for (auto &[id, request] : wanted) {
    std::vector<Rank> members;
    for (const End *end : request.ends)
      members.push_back(endpoint_.group().rankAt(end->peer));
    auto group = members.size() < 2 ? std::nullopt : worker.groupOf(members);
    if (!group)
      continue;
    MulticastRequest &added = multicasts_.emplace_back(std::move(request));
    added.id = id;
    added.group = *group;
    for (End *end : added.ends)
      end->state.multicast = &added;
  }
}

// False: the message goes by itself.
bool RemoteChannels::gather(MessageSlot, End &end) {
  MulticastRequest &request = *end.state.multicast;
  if (request.run != run_) {
    request.run = run_;
    request.gathered = 0;
    request.state = multicast().isReady(request.group) ? MulticastRequest::State::Gathering
                                                       : MulticastRequest::State::Idle;
  }
  if (request.state != MulticastRequest::State::Gathering)
    return false;
  if (request.gathered == 0) {
    request.first = &end;
  } else if (!isAlike(request.first->payload, end.payload)) {
    split(request);
    return false;
  }
  ++counter_.outstanding;
  if (++request.gathered == request.ends.size())
    launch(request);
  return true;
}

// Sends the gathered messages to one peer at a time. gather() has counted them as outstanding, and
// send() counts them again.
void RemoteChannels::split(MulticastRequest &request) {
  request.state = MulticastRequest::State::Idle;
  for (size_t i = 0; i < request.ends.size(); ++i) {
    End &end = *request.ends[i];
    if (!end.isOpen || end.tag.run != run_)
      continue;
    --counter_.outstanding;
    request.sends[i]->send(end);
  }
}

uint64_t RemoteChannels::multicastBytes() const { return multicast().frameBytes() - kHeadBytes; }

void RemoteChannels::launch(MulticastRequest &request) {
  uint64_t bytes = request.first->payload.bytes;
  network::ActiveMessages &am = endpoint_.worker().am();
  auto peerOf = [this](const End *end) -> network::Peer & {
    return endpoint_.worker().peer(endpoint_.group().rankAt(end->peer));
  };
  bool hasWindow = std::all_of(request.ends.begin(), request.ends.end(),
                               [&](const End *end) { return am.hasWindow(peerOf(end), bytes); });
  if (bytes <= multicastBytes() && hasWindow) {
    request.state = MulticastRequest::State::ToSend;
    for (const End *end : request.ends)
      am.useWindow(peerOf(end), bytes);
  } else {
    requestAll(request);
  }
  if (!advance(request)) {
    ++numActive_;
    endpoint_.worker().moveMulticasts(*this, true);
  }
}

uint64_t RemoteChannels::sendFrame(const MulticastRequest &request, Kind kind,
                                   std::span<const std::byte> body, const MulticastFlags &flags) {
  struct {
    Header header;
    MulticastBody body;
  } head = {{.from = endpoint_.worker().rank(),
             .tag = tagOf(plan_, request.run),
             .kind = Kind::Multicast,
             .bodyBytes = static_cast<uint16_t>(sizeof(MulticastBody) + body.size())},
            {.message = request.id, .kind = kind, .unused = {}}};
  for (size_t i = 0; i < request.ends.size(); ++i) {
    request.sends[i]->wire().countMulticast(plan_);
    ++request.ends[i]->state.multicastFrames;
  }
  return multicast().send(request.group, std::as_bytes(std::span(&head, 1)), body, flags);
}

// Sends bytes [offset, offset + bytes) of the message. A long payload in one piece stays where it
// is: the caller waits until all receivers have it.
uint64_t RemoteChannels::sendPart(const MulticastRequest &request, Kind kind, uint64_t offset,
                                  uint64_t bytes) {
  const Payload &payload = request.first->payload;
  bool isLast = offset + bytes == payload.bytes, isLong = kind == Kind::Fragment;
  if (payload.count == 1) {
    auto *begin = static_cast<const std::byte *>(payload.pieces[0].iov_base);
    return sendFrame(request, kind, {begin + offset, bytes}, {isLong, isLong && isLast});
  }
  together_.resize(bytes);
  colldsl::gather(together_.data(), payload, offset, bytes);
  return sendFrame(request, kind, together_, {false, isLong && isLast});
}

// True: the request is over.
bool RemoteChannels::advance(MulticastRequest &request) {
  switch (request.state) {
  case MulticastRequest::State::Idle:
  case MulticastRequest::State::Gathering:
    return true;
  case MulticastRequest::State::ToSend:
    if (!multicast().hasRoom(request.group))
      return false;
    sendPart(request, Kind::Eager, 0, request.first->payload.bytes);
    return finish(request);
  case MulticastRequest::State::Requested:
    return checkRequested(request);
  case MulticastRequest::State::Sending:
    return sendParts(request);
  case MulticastRequest::State::Sent:
    return multicast().isAcknowledged(request.group, request.number) && finish(request);
  }
  return true;
}

bool RemoteChannels::multicastAll() {
  bool moved = false;
  for (MulticastRequest &request : multicasts_) {
    bool isActive = request.state != MulticastRequest::State::Idle &&
                    request.state != MulticastRequest::State::Gathering;
    if (!isActive || !advance(request))
      continue;
    moved = true;
    --numActive_;
  }
  if (numActive_ == 0)
    endpoint_.worker().moveMulticasts(*this, false);
  return moved;
}

// A message that was requested completes as held requests, which the sends have counted; any other
// completes here.
bool RemoteChannels::finish(MulticastRequest &request) {
  bool wasRequested = request.state != MulticastRequest::State::ToSend;
  request.state = MulticastRequest::State::Idle;
  for (size_t i = 0; i < request.ends.size(); ++i) {
    End &end = *request.ends[i];
    end.holdsFragments = false;
    if (wasRequested) {
      request.sends[i]->completeHeld(end);
    } else {
      end.transferred = end.payload.bytes;
      end.complete();
    }
  }
  return true;
}

// Each receiver gets an RTS; none is to get the message, or to be put into.
void RemoteChannels::requestAll(MulticastRequest &request) {
  request.state = MulticastRequest::State::Requested;
  request.until = Clock::now() + kMaxWaiting;
  request.sentBytes = 0;
  for (size_t i = 0; i < request.ends.size(); ++i) {
    End &end = *request.ends[i];
    end.payload.registered = nullptr;
    end.holdsFragments = true;
    Protocol protocol = std::exchange(end.protocol, Protocol::Rendezvous);
    --counter_.outstanding;
    request.sends[i]->send(end);
    end.protocol = protocol;
    end.payload.registered = &end.state.memory;
    endpoint_.expect(end);
  }
}

// The multicast waits for the requests of all receivers, but not for ever: after that each receiver
// gets fragments of its own, a late one when its request comes.
bool RemoteChannels::checkRequested(MulticastRequest &request) {
  bool isWanted = std::all_of(request.ends.begin(), request.ends.end(),
                              [](const End *end) { return end->isHeld; });
  if (isWanted) {
    request.state = MulticastRequest::State::Sending;
    for (End *end : request.ends)
      endpoint_.expectNoMore(*end);
    return sendParts(request);
  }
  if (Clock::now() < request.until)
    return false;
  request.state = MulticastRequest::State::Idle;
  for (size_t i = 0; i < request.ends.size(); ++i) {
    request.ends[i]->holdsFragments = false;
    if (request.ends[i]->isHeld)
      request.sends[i]->sendHeld(*request.ends[i]);
  }
  return true;
}

bool RemoteChannels::sendParts(MulticastRequest &request) {
  uint64_t all = request.first->payload.bytes;
  while (request.sentBytes < all && multicast().hasRoom(request.group)) {
    uint64_t bytes = std::min(multicastBytes(), all - request.sentBytes);
    request.number = sendPart(request, Kind::Fragment, request.sentBytes, bytes);
    request.sentBytes += bytes;
  }
  if (request.sentBytes == all)
    request.state = MulticastRequest::State::Sent;
  return false;
}

// The id in the frame names the message at both ends.
void RemoteChannels::onMulticast(Rank root, const Tag &run, const MulticastBody &frame,
                                 std::span<const std::byte> bytes) {
  ++multicastsFrom_[root];
  auto found = multicastFrom_.find({root, frame.message});
  RemoteWorker &worker = endpoint_.worker();
  if (found == multicastFrom_.end()) {
    if (frame.kind == Kind::Eager)
      worker.am().consume(worker.peer(root), bytes.size());
    return;
  }
  End &end = *found->second;
  ++end.state.multicastFrames;
  RemoteReceiver &receiver = worker.receivesFrom(root).wire();
  Tag tag = end.tag;
  tag.run = run.run;
  if (frame.kind == Kind::Eager)
    receiver.onEager(tag, bytes);
  else if (frame.kind == Kind::Fragment && end.tag.run == run.run)
    receiver.onFragmentFor(end, bytes);
}

} // namespace colldsl::protocol
