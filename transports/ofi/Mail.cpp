#include "transports/ofi/Mail.h"

#include <algorithm>

namespace colldsl::ofi {
namespace {

// Looks at the queue in a row; then others get their turn.
constexpr int kMostLooks = 4;
constexpr size_t kEntries = 16;
constexpr uint32_t kMostInjected = 128;

Operation &operationOf(void *context) { return *static_cast<Operation *>(context); }

} // namespace

Mail::Mail(Fabric &fabric, Calls &calls, MailReader &reader, Rank self, uint64_t token,
           const Options &options)
    : fabric_(fabric), calls_(calls), reader_(reader), self_(self), token_(token),
      options_(options), short_(fabric, kShortFrame, 16, FI_SEND),
      long_(fabric, static_cast<uint32_t>(sizeof(Header)) + options.eagerBytes, 4, FI_SEND),
      received_(fabric, std::max(kShortFrame, long_.frameBytes()), options.receives, FI_RECV) {}

Status Mail::start(Directory directory) {
  directory_ = std::move(directory);
  for (uint32_t i = 0; i < options_.receives; ++i) {
    Frame *frame = received_.take();
    if (!frame)
      return Status::error("no memory could be registered for what comes");
    listen(*frame);
  }
  return isBroken_ ? Status::error("the provider takes no receives") : Status();
}

Result<Peer *> Mail::peer(Rank rank) {
  if (auto known = peers_.find(rank); known != peers_.end())
    return known->second.get();
  auto peer = std::make_unique<Peer>();
  peer->rank = rank;
  peer->isSelf = rank == self_;
  peer->token = token_;
  if (!peer->isSelf) {
    Result<Card> card = directory_(rank);
    if (!card)
      return card.status();
    Result<fi_addr_t> handle = fabric_.reach(card->address.data());
    if (!handle)
      return Status::error("rank " + std::to_string(index(rank)) + ": " + handle.message());
    peer->token = card->token;
    peer->handle = *handle;
  }
  return peers_.emplace(rank, std::move(peer)).first->second.get();
}

// Every header says what is out of the way by now.
void Mail::complete(Peer &to, Header &header, uint64_t bodyBytes) {
  header.bodyBytes = static_cast<uint16_t>(bodyBytes);
  header.sequence = to.nextSaid++;
  header.token = to.token;
  header.from = self_;
  header.consumed = to.consumedTold = to.consumed;
}

Frame *Mail::fresh(Peer &to, const Header &header, uint64_t bodyBytes) {
  uint64_t bytes = sizeof header + bodyBytes;
  bool isLong = bytes > kShortFrame;
  Frame *frame = (isLong ? long_ : short_).take();
  if (!frame) {
    reader_.onBroken("no memory could be registered for what is sent");
    return nullptr;
  }
  frame->kind = Operation::Kind::Send;
  frame->peer = &to;
  frame->isLong = isLong;
  frame->bytes = static_cast<uint32_t>(bytes);
  std::memcpy(frame->data, &header, sizeof header);
  return frame;
}

bool Mail::injects(const Peer &to, uint64_t bodyBytes) const {
  uint64_t bytes = sizeof(Header) + bodyBytes;
  return !to.isSelf && to.waiting.empty() && bytes <= kMostInjected &&
         bytes <= fabric_.powers().injectBytes;
}

// True: it is said, or the peer is lost.
bool Mail::inject(Peer &to, const Header &header, std::span<const std::byte> body) {
  std::byte bytes[kMostInjected];
  std::memcpy(bytes, &header, sizeof header);
  std::copy(body.begin(), body.end(), bytes + sizeof header);
  ssize_t code = calls_.inject(fabric_.endpoint(), bytes, sizeof header + body.size(), to.handle);
  if (code == -FI_EAGAIN)
    return false;
  if (code != 0)
    lose(to, textOf(code));
  return true;
}

void Mail::say(Peer &to, Header header, std::span<const std::byte> body) {
  if (to.isLost)
    return;
  complete(to, header, body.size());
  if (injects(to, body.size()) && inject(to, header, body))
    return;
  if (Frame *frame = fresh(to, header, body.size())) {
    std::copy(body.begin(), body.end(), frame->data + sizeof header);
    hand(to, *frame);
  }
}

void Mail::sayPart(Peer &to, Header header, const Payload &payload, uint64_t offset,
                   uint32_t bytes) {
  if (to.isLost)
    return;
  if (injects(to, bytes)) {
    std::byte body[kMostInjected];
    gather(body, payload, offset, bytes);
    return say(to, header, std::span<const std::byte>(body, bytes));
  }
  complete(to, header, bytes);
  if (Frame *frame = fresh(to, header, bytes)) {
    gather(frame->data + sizeof header, payload, offset, bytes);
    hand(to, *frame);
  }
}

void Mail::sayEager(Peer &to, Header header, const Payload &payload) {
  to.sent += unitsOf(payload.bytes);
  sayPart(to, header, payload, 0, static_cast<uint32_t>(payload.bytes));
}

void Mail::consume(Peer &from, uint64_t bytes) {
  from.consumed += unitsOf(bytes);
  if (from.consumed - from.consumedTold >= options_.windowBytes / 2)
    say(from, {.kind = Kind::Credit}, std::span<const std::byte>());
}

void Mail::hand(Peer &to, Frame &frame) {
  if (to.isSelf)
    return local_.push(frame);
  bool isStuck = !to.waiting.empty();
  if (!isStuck && offer(to, frame))
    return;
  to.waiting.push(frame);
  if (!isStuck)
    stuck_.push_back(&to);
}

// False: not now.
bool Mail::offer(Peer &to, Frame &frame) {
  frame.isOpen = true;
  ssize_t code = calls_.send(fabric_.endpoint(), frame.data, frame.bytes, frame.descriptor,
                             to.handle, static_cast<Operation *>(&frame));
  if (code == 0) {
    ++to.open;
    to.longInFlight += frame.isLong;
    return true;
  }
  frame.isOpen = false;
  if (code == -FI_EAGAIN)
    return false;
  giveBack(frame);
  lose(to, textOf(code));
  return true;
}

void Mail::giveBack(Frame &frame) { (frame.isLong ? long_ : short_).give(frame); }

// What waits for it is dropped when its turn comes.
void Mail::lose(Peer &peer, const std::string &reason) {
  if (peer.isLost)
    return;
  peer.isLost = true;
  reader_.onLost(peer, reason);
}

bool Mail::isIdle() const {
  return local_.empty() && std::all_of(peers_.begin(), peers_.end(), [](const auto &entry) {
           const Peer &peer = *entry.second;
           return peer.isLost || (peer.open == 0 && peer.waiting.empty());
         });
}

bool Mail::offerStuck() {
  bool moved = false;
  for (size_t i = 0; i < stuck_.size();) {
    Peer &peer = *stuck_[i];
    while (Frame *frame = peer.waiting.front()) {
      peer.waiting.pop();
      if (peer.isLost) {
        giveBack(*frame);
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

bool Mail::move(Move &move, fi_msg_rma &message, bool writes) {
  if (move.peer->isLost)
    return true;
  move.isOpen = true;
  message.addr = move.peer->handle;
  message.context = static_cast<Operation *>(&move);
  ssize_t code =
      writes ? calls_.write(fabric_.endpoint(), message) : calls_.read(fabric_.endpoint(), message);
  if (code == 0) {
    ++move.peer->open;
    return true;
  }
  move.isOpen = false;
  if (code == -FI_EAGAIN)
    return false;
  lose(*move.peer, textOf(code));
  return true;
}

void Mail::listen(Frame &frame) {
  frame.kind = Operation::Kind::Receive;
  frame.isOpen = true;
  ssize_t code = calls_.recv(fabric_.endpoint(), frame.data, received_.frameBytes(),
                             frame.descriptor, static_cast<Operation *>(&frame));
  if (code == 0)
    return;
  frame.isOpen = false;
  deaf_.push(frame);
  if (code != -FI_EAGAIN && !isBroken_) {
    isBroken_ = true;
    reader_.onBroken(std::string("cannot receive: ") + textOf(code));
  }
}

bool Mail::listenAgain() {
  if (isBroken_)
    return false;
  for (Frame *frame = deaf_.front(); frame; frame = deaf_.front()) {
    deaf_.pop();
    listen(*frame);
    if (!frame->isOpen)
      return false;
  }
  return true;
}

bool Mail::deliverLocal() {
  bool moved = false;
  for (FrameQueue now = std::exchange(local_, {}); Frame *frame = now.front(); moved = true) {
    now.pop();
    takeFrame({frame->data, frame->bytes});
    giveBack(*frame);
  }
  return moved;
}

// Of one of the job: what came is not what was sent.
void Mail::takeBroken(const Header &header, size_t bytes) {
  ++refused_;
  constexpr size_t kNamesSender = offsetof(Header, from) + sizeof header.from;
  auto from = peers_.find(header.from);
  if (bytes >= kNamesSender && header.token == token_ && from != peers_.end())
    lose(*from->second, "a frame arrived broken");
}

// A provider that keeps its word neither loses nor repeats; another one must not go unnoticed.
bool Mail::isNext(Peer &from, uint8_t sequence) {
  auto ahead = static_cast<int8_t>(sequence - from.nextHeard);
  if (ahead > 0)
    lose(from, "a frame is missing");
  if (ahead != 0)
    ++refused_;
  from.nextHeard += ahead == 0;
  return ahead == 0;
}

// The network's word for it: nothing in a frame is taken for granted.
void Mail::takeFrame(std::span<const std::byte> bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  if (bytes.size() < sizeof header || bytes.size() != sizeof header + header.bodyBytes)
    return takeBroken(header, bytes.size());
  if (header.token != token_ || header.kind > Kind::Last) {
    ++refused_;
    return;
  }
  Result<Peer *> found = peer(header.from);
  if (!found) {
    ++refused_;
    return;
  }
  Peer &from = **found;
  if (!isNext(from, header.sequence))
    return;
  if (static_cast<int32_t>(header.consumed - from.sentConsumed) > 0)
    from.sentConsumed = header.consumed;
  reader_.onFrame(from, header, bytes.subspan(sizeof header));
}

void Mail::take(const fi_cq_data_entry &entry) {
  if ((entry.flags & FI_REMOTE_WRITE) != 0) {
    if ((entry.flags & FI_REMOTE_CQ_DATA) != 0)
      reader_.onWritten(static_cast<uint32_t>(entry.data));
    return;
  }
  if (!entry.op_context || !operationOf(entry.op_context).isOpen) {
    ++refused_; // told before
    return;
  }
  Operation &operation = operationOf(entry.op_context);
  operation.isOpen = false;
  switch (operation.kind) {
  case Operation::Kind::Receive: {
    auto &frame = static_cast<Frame &>(operation);
    takeFrame({frame.data, std::min<size_t>(entry.len, received_.frameBytes())});
    return listen(frame);
  }
  case Operation::Kind::Send: {
    auto &frame = static_cast<Frame &>(operation);
    --frame.peer->open;
    frame.peer->longInFlight -= frame.isLong;
    return giveBack(frame);
  }
  case Operation::Kind::Move:
    --static_cast<Move &>(operation).peer->open;
    return reader_.onMoved(static_cast<Move &>(operation));
  }
}

// A receive that failed had nothing for us; what was sent to a peer and failed, failed for good.
void Mail::takeError() {
  fi_cq_err_entry error = {};
  if (calls_.readError(fabric_.queue(), &error) != 1)
    return;
  if (!error.op_context || !operationOf(error.op_context).isOpen) {
    ++refused_;
    return;
  }
  Operation &operation = operationOf(error.op_context);
  operation.isOpen = false;
  std::string reason = textOf(-error.err);
  switch (operation.kind) {
  case Operation::Kind::Receive:
    ++refused_;
    return listen(static_cast<Frame &>(operation));
  case Operation::Kind::Send: {
    auto &frame = static_cast<Frame &>(operation);
    --frame.peer->open;
    frame.peer->longInFlight -= frame.isLong;
    Peer &peer = *frame.peer;
    giveBack(frame);
    return lose(peer, reason);
  }
  case Operation::Kind::Move:
    --static_cast<Move &>(operation).peer->open;
    return lose(*static_cast<Move &>(operation).peer, reason);
  }
}

bool Mail::poll() {
  bool moved = deliverLocal();
  fi_cq_data_entry entries[kEntries];
  for (int look = 0; look < kMostLooks; ++look) {
    ssize_t count = calls_.readQueue(fabric_.queue(), entries, kEntries);
    for (ssize_t i = 0; i < count; ++i)
      take(entries[i]);
    if (count == -FI_EAVAIL)
      takeError();
    else if (count < 0 && count != -FI_EAGAIN && !isBroken_) {
      isBroken_ = true;
      reader_.onBroken(std::string("cannot look for news: ") + textOf(count));
    }
    moved |= count > 0;
    if (count != kEntries && count != -FI_EAVAIL)
      break;
  }
  if (!deaf_.empty())
    moved |= listenAgain();
  return (!stuck_.empty() && offerStuck()) || moved;
}

} // namespace colldsl::ofi
