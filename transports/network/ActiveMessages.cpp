#include "transports/network/ActiveMessages.h"

#include <algorithm>

namespace colldsl::network {
namespace {

constexpr uint32_t kMaxInjected = 128;

} // namespace

ActiveMessages::ActiveMessages(Transport &transport, ActiveMessageHandler &handler, Rank self,
                               uint64_t token, const Options &options)
    : transport_(transport), handler_(handler), self_(self), token_(token), options_(options),
      short_(transport, kShortFrame, 16, Access::Send),
      middle_(transport, sizeof(Header) + std::min(options.longestEagerBytes, kMiddleFrame), 4,
              Access::Send),
      long_(transport, static_cast<uint32_t>(sizeof(Header)) + options.longestEagerBytes, 4,
            Access::Send) {}

Status ActiveMessages::start(Directory directory) {
  directory_ = std::move(directory);
  return transport_.start(*this, {self_, token_, std::max(kShortFrame, long_.frameBytes())});
}

Result<Peer *> ActiveMessages::peer(Rank rank) {
  if (auto known = peers_.find(rank); known != peers_.end())
    return known->second.get();
  auto peer = std::make_unique<Peer>();
  peer->rank = rank;
  peer->isSelf = rank == self_;
  peer->token = token_;
  if (!peer->isSelf) {
    Result<RankAddress> rankAddress = directory_(rank);
    if (!rankAddress)
      return rankAddress.status();
    peer->token = rankAddress->token;
    if (Status s = transport_.reach(*peer, *rankAddress); !s)
      return Status::error("rank " + std::to_string(index(rank)) + ": " + s.message());
  }
  return peers_.emplace(rank, std::move(peer)).first->second.get();
}

// Every header acknowledges the messages that are out of the way by now.
void ActiveMessages::complete(Peer &to, Header &header, uint64_t bodyBytes) {
  header.bodyBytes = static_cast<uint16_t>(bodyBytes);
  header.sequence = to.nextSent++;
  header.token = to.token;
  header.from = self_;
  header.consumed = to.consumedReported = to.consumed;
}

Frame *ActiveMessages::fresh(Peer &to, const Header &header, uint64_t bodyBytes) {
  uint64_t bytes = sizeof header + bodyBytes;
  Frame *frame = poolFor(bytes).take();
  if (!frame) {
    handler_.onBroken("no memory could be registered for what is sent");
    return nullptr;
  }
  frame->kind = Operation::Kind::Send;
  frame->peer = &to;
  frame->isLong = bytes > kShortFrame;
  frame->bytes = static_cast<uint32_t>(bytes);
  std::memcpy(frame->data, &header, sizeof header);
  return frame;
}

bool ActiveMessages::injects(const Peer &to, uint64_t bodyBytes) const {
  uint64_t bytes = sizeof(Header) + bodyBytes;
  return !to.isSelf && to.waiting.empty() && bytes <= kMaxInjected &&
         bytes <= transport_.capabilities().injectBytes;
}

// True: the frame is sent, or the peer is lost.
bool ActiveMessages::inject(Peer &to, const Header &header, std::span<const std::byte> body) {
  std::byte bytes[kMaxInjected];
  std::memcpy(bytes, &header, sizeof header);
  std::copy(body.begin(), body.end(), bytes + sizeof header);
  PostResult offered = transport_.inject(to, {bytes, sizeof header + body.size()});
  if (offered == PostResult::Error)
    lose(to, transport_.reason());
  return offered != PostResult::NoResource;
}

void ActiveMessages::send(Peer &to, Header header, std::span<const std::byte> body) {
  if (!accepts(to, header.kind))
    return;
  complete(to, header, body.size());
  if (injects(to, body.size()) && inject(to, header, body))
    return;
  if (Frame *frame = fresh(to, header, body.size())) {
    std::copy(body.begin(), body.end(), frame->data + sizeof header);
    hand(to, *frame);
  }
}

void ActiveMessages::sendPart(Peer &to, Header header, const Payload &payload, uint64_t offset,
                              uint32_t bytes) {
  if (!accepts(to, header.kind))
    return;
  if (injects(to, bytes)) {
    std::byte body[kMaxInjected];
    gather(body, payload, offset, bytes);
    return send(to, header, std::span<const std::byte>(body, bytes));
  }
  complete(to, header, bytes);
  if (Frame *frame = fresh(to, header, bytes)) {
    gather(frame->data + sizeof header, payload, offset, bytes);
    hand(to, *frame);
  }
}

void ActiveMessages::sendEager(Peer &to, Header header, const Payload &payload) {
  useWindow(to, payload.bytes);
  sendPart(to, header, payload, 0, static_cast<uint32_t>(payload.bytes));
}

void ActiveMessages::consume(Peer &from, uint64_t bytes) {
  from.consumed += unitsOf(bytes);
  if (from.consumed - from.consumedReported >= options_.windowBytes / 2)
    send(from, {.kind = Kind::Credit}, std::span<const std::byte>());
}

void ActiveMessages::hand(Peer &to, Frame &frame) {
  if (to.isSelf)
    return local_.push(frame);
  ++sent_;
  bool isStuck = !to.waiting.empty();
  if (!isStuck && offer(to, frame))
    return;
  to.waiting.push(frame);
  if (!isStuck)
    stuck_.push_back(&to);
}

// False: the transport does not take the frame now.
bool ActiveMessages::offer(Peer &to, Frame &frame) {
  frame.isOpen = true;
  PostResult offered = transport_.send(to, frame);
  if (offered == PostResult::Ok) {
    ++to.open;
    ++to.openFrames;
    to.longInFlight += frame.isLong;
    return true;
  }
  frame.isOpen = false;
  if (offered == PostResult::NoResource)
    return false;
  frame.pool->give(frame);
  lose(to, transport_.reason());
  return true;
}

// Frames that wait for a lost peer are dropped when their turn comes.
void ActiveMessages::lose(Peer &peer, const std::string &reason) {
  if (peer.isLost)
    return;
  peer.isLost = true;
  handler_.onLost(peer, reason);
}

// A peer that acknowledged the disconnect has all frames that were sent to it, and has perhaps
// left.
bool ActiveMessages::isIdle() const {
  return local_.empty() && std::all_of(peers_.begin(), peers_.end(), [&](const auto &entry) {
           const Peer &peer = *entry.second;
           return peer.isSelf || peer.isLost || peer.acknowledgedDisconnect || hasAll(peer);
         });
}

bool ActiveMessages::offerStuck() {
  bool moved = false;
  for (size_t i = 0; i < stuck_.size();) {
    Peer &peer = *stuck_[i];
    while (Frame *frame = peer.waiting.front()) {
      peer.waiting.pop();
      if (peer.isLost) {
        frame->pool->give(*frame);
      } else if (!offer(peer, *frame)) {
        peer.waiting.pushFront(*frame);
        break;
      }
      moved = true;
    }
    if (peer.waiting.empty())
      stuck_.erase(stuck_.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return moved;
}

bool ActiveMessages::startRma(RmaOperation &rma, const RmaSpec &spec, bool writes) {
  if (rma.peer->isLost)
    return true;
  rma.isOpen = true;
  PostResult offered = writes ? transport_.write(rma, spec) : transport_.read(rma, spec);
  if (offered == PostResult::Ok) {
    ++rma.peer->open;
    return true;
  }
  rma.isOpen = false;
  if (offered == PostResult::Error)
    lose(*rma.peer, transport_.reason());
  return offered == PostResult::Error;
}

bool ActiveMessages::deliverLocal() {
  bool moved = false;
  for (FrameQueue now = std::exchange(local_, {}); Frame *frame = now.front(); moved = true) {
    now.pop();
    onBytes({frame->data, frame->bytes});
    frame->pool->give(*frame);
  }
  return moved;
}

// Loses the peer that a broken frame names, if the token is right: the frame is not what it sent.
void ActiveMessages::takeBroken(const Header &header, size_t bytes) {
  ++refused_;
  constexpr size_t kNamesSender = offsetof(Header, from) + sizeof header.from;
  auto from = peers_.find(header.from);
  if (bytes >= kNamesSender && header.token == token_ && from != peers_.end())
    lose(*from->second, "a frame arrived broken");
}

// Checks that the transport neither lost nor repeated a frame.
bool ActiveMessages::isNext(Peer &from, uint8_t sequence) {
  auto ahead = static_cast<int8_t>(sequence - from.nextExpected);
  if (ahead > 0)
    lose(from, "a frame is missing");
  if (ahead != 0)
    ++refused_;
  from.nextExpected += ahead == 0;
  return ahead == 0;
}

// Checks everything in a frame, because it comes from the network.
void ActiveMessages::onBytes(std::span<const std::byte> bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  auto bodyBytes = static_cast<uint16_t>(bytes.size() - sizeof header);
  if (bytes.size() < sizeof header || bodyBytes != header.bodyBytes)
    return takeBroken(header, bytes.size());
  if (header.token != token_ || header.kind > Kind::Last) {
    ++refused_;
    return;
  }
  Peer *found = onConnectRequest(header.from);
  if (!found) {
    ++refused_;
    return;
  }
  Peer &from = *found;
  if (!isNext(from, header.sequence))
    return;
  if (static_cast<int32_t>(header.consumed - from.sentConsumed) > 0)
    from.sentConsumed = header.consumed;
  handler_.onFrame(from, header, bytes.subspan(sizeof header));
}

// Closes an operation. False: its end was reported before.
bool ActiveMessages::close(Operation &operation) {
  if (!operation.isOpen) {
    ++refused_;
    return false;
  }
  operation.isOpen = false;
  if (operation.kind == Operation::Kind::Rma) {
    --static_cast<RmaOperation &>(operation).peer->open;
    return true;
  }
  auto &frame = static_cast<Frame &>(operation);
  ++done_;
  --frame.peer->open;
  --frame.peer->openFrames;
  frame.peer->longInFlight -= frame.isLong;
  frame.pool->give(frame);
  return true;
}

void ActiveMessages::onDone(Operation &operation) {
  if (close(operation) && operation.kind == Operation::Kind::Rma)
    handler_.onRmaDone(static_cast<RmaOperation &>(operation));
}

// A failed operation is not tried again: its peer is lost.
void ActiveMessages::onFailed(Operation &operation, const std::string &reason) {
  Peer *peer = operation.kind == Operation::Kind::Rma ? static_cast<RmaOperation &>(operation).peer
                                                      : static_cast<Frame &>(operation).peer;
  if (close(operation))
    lose(*peer, reason);
}

Peer *ActiveMessages::onConnectRequest(Rank from) {
  Result<Peer *> found = peer(from);
  return found ? *found : nullptr;
}

bool ActiveMessages::poll() {
  bool moved = deliverLocal();
  moved |= transport_.poll();
  return (!stuck_.empty() && offerStuck()) || moved;
}

} // namespace colldsl::network
