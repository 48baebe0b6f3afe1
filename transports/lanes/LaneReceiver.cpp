#include "transports/lanes/LaneReceiver.h"

#include <algorithm>

namespace colldsl::lanes {
namespace {

using rendezvous::State;
using rendezvous::wordOf;

constexpr uint32_t kPollsForMore = 200;
constexpr uint32_t kPollsBeforeTakingBack = 16;
constexpr uint32_t kMostLate = 8;
constexpr uint64_t kLeastReserved = 16; // messages, however long they are
constexpr uint32_t kSpareKiB = 64; // takes a receiver about as long as to ask a sender to write
constexpr uint64_t kPartBytes = 512 << 10; // at most, of a message that is combined

uint32_t linesOf(const Line &line) {
  return line.kind == LineKind::Inline ? linesFor(line.inlineBytes) : 1;
}

} // namespace

void LaneReceiver::connect(uint64_t offset) {
  header_ = reinterpret_cast<LaneHeader *>(world_.at(offset));
  lines_ = reinterpret_cast<const Line *>(header_ + 1);
  ring_ = reinterpret_cast<const std::byte *>(lines_ + kLines);
}

size_t LaneReceiver::numReserved() const {
  uint64_t most = options_.asideBytes / (sizeof(Aside) + roomBytes_);
  return std::min<size_t>(reserved_, std::max(most, kLeastReserved));
}

// A late receiver's messages come through half of the ring at most.
void LaneReceiver::reserve(uint32_t messages, uint64_t bytes) {
  reserved_ += messages;
  uint64_t longest = std::max(options_.eagerBytes, options_.ringBytes / 2);
  roomBytes_ = std::max(roomBytes_, std::min(bytes, longest));
  while (aside_.size() + spare_.size() < numReserved())
    spare_.emplace_back();
  for (Aside &spare : spare_)
    spare.bytes.reserve(roomBytes_);
  streams_.reserve(kTicketsAtOnce);
  announced_.reserve(kTicketsAtOnce);
}

void LaneReceiver::unreserve(uint32_t messages) {
  reserved_ -= messages;
  roomBytes_ = reserved_ == 0 ? 0 : roomBytes_;
  while (!spare_.empty() && aside_.size() + spare_.size() > numReserved())
    spare_.pop_front();
}

// Lines are stamped in their order: with the last one all are here.
bool LaneReceiver::isWhole(const Line &line) const {
  uint32_t lines = linesOf(line);
  return lines == 1 || awaitMore(taken_ + lines - 1);
}

// The next line is mostly a moment away. Its sender may have lost its core, though.
const More *LaneReceiver::awaitMore(uint32_t position) const {
  const More &more = reinterpret_cast<const More &>(lines_[position % kLines]);
  for (uint32_t polls = kPollsForMore; polls > 0; --polls)
    if (more.stamp.load(std::memory_order_acquire) == position + 1)
      return &more;
  return nullptr;
}

// Line by line, while the last ones may still be on their way. False: they do not come soon.
bool LaneReceiver::unpackLines(std::byte *to, const Line &line) const {
  std::memcpy(to, line.body.data, kInlineBytes);
  to += kInlineBytes;
  uint32_t position = taken_;
  for (uint64_t left = line.inlineBytes - kInlineBytes; left > 0;) {
    const More *more = awaitMore(++position);
    if (!more)
      return false;
    uint64_t here = std::min<uint64_t>(left, kMoreBytes);
    if (here == kMoreBytes)
      std::memcpy(to, more->data, kMoreBytes); // no call
    else
      std::memcpy(to, more->data, here);
    to += here;
    left -= here;
  }
  return true;
}

// Where the payload of a line lies in one piece; `room` has kLongestInlineBytes.
const std::byte *LaneReceiver::bytesOf(const Line &line, std::byte *room, uint64_t &bytes) const {
  if (line.kind == LineKind::Inline) {
    bytes = line.inlineBytes;
    if (bytes <= kInlineBytes)
      return line.body.data;
    unpackLines(room, line);
    return room;
  }
  bytes = line.body.ring.bytes;
  return ring_ + line.body.ring.place;
}

bool LaneReceiver::takeEager(const Line &line, const Message &message) {
  if (line.kind != LineKind::Eager || line.body.ring.bytes != message.payload.bytes)
    return false;
  noteTime(line.body.ring.bytes, !lookedInVain_);
  lookedInVain_ = false;
  store(message, 0, ring_ + line.body.ring.place, line.body.ring.bytes);
  freeBytes(line);
  advance(1);
  return true;
}

bool LaneReceiver::takeLines(const Line &line, const Message &message) {
  std::byte room[kLongestInlineBytes];
  bool isFlat = message.payload.count == 1;
  if (!unpackLines(isFlat ? static_cast<std::byte *>(message.payload.pieces[0].iov_base) : room,
                   line))
    return false;
  if (!isFlat)
    scatterShort(message.payload, room);
  advance(linesFor(line.inlineBytes));
  return true;
}

// A ring of which nothing is free for long would stop a stream.
void LaneReceiver::freeBytes(const Line &line) {
  header_->bytesConsumed.store(line.body.ring.end, std::memory_order_release);
  world_.wake(peer_);
}

void LaneReceiver::publish() {
  published_ = taken_;
  header_->linesConsumed.store(taken_, std::memory_order_release);
  world_.wake(peer_);
}

void LaneReceiver::post(Message &message) {
  message.moved = 0;
  ++message.tally->open;
  if (aside_.empty() || !takeFromAside(message))
    posted_.push(message);
}

bool LaneReceiver::poll() {
  if (!lines_)
    return false;
  bool moved = false;
  while (true) {
    const Line &line = lines_[taken_ % kLines];
    if (line.stamp.load(std::memory_order_acquire) != taken_ + 1 || !isWhole(line))
      break;
    take(line);
    if (line.kind == LineKind::Eager || line.kind == LineKind::Fragment)
      freeBytes(line);
    advance(linesOf(line));
    moved = true;
  }
  if (moved || announced_.empty() || ++idlePolls_ < kPollsBeforeTakingBack) {
    idlePolls_ = moved ? 0 : idlePolls_;
    return moved;
  }
  idlePolls_ = 0;
  return takeBack();
}

void LaneReceiver::take(const Line &line) {
  if (line.kind == LineKind::Fragment)
    return takeFragment(line);
  if (line.kind == LineKind::Written)
    return takeWritten(line);
  if (line.kind == LineKind::Cancelled)
    return takeCancelled(line);
  if (line.kind == LineKind::Closed)
    return takeClosed(streamOf(line.key));
  Message *message = posted_.take(line.key);
  if (line.kind == LineKind::Request)
    noteTime(line.body.request.bytes, !message);
  else if (line.kind == LineKind::Eager)
    noteTime(line.body.ring.bytes, !message);
  if (!message)
    return setAside(line);
  if (line.kind == LineKind::Request) {
    if (!answer(*message, line.body.request, line.ticket))
      posted_.push(*message);
    return;
  }
  std::byte room[kLongestInlineBytes];
  uint64_t bytes;
  const std::byte *from = bytesOf(line, room, bytes);
  deliver(*message, from, bytes);
}

void LaneReceiver::setAside(const Line &line) {
  if (refused_.has(line.key)) {
    if (line.kind == LineKind::Request) // its sender need not wait
      decline(line.body.request);
    return;
  }
  if (aside_.size() >= sweepAt_)
    sweep();
  if (spare_.empty())
    spare_.emplace_back();
  aside_.splice(aside_.end(), spare_, spare_.begin());
  Aside &aside = aside_.back();
  aside.key = line.key;
  aside.kind = line.kind;
  aside.ticket = line.ticket;
  if (line.kind == LineKind::Request) {
    aside.request = line.body.request;
    return;
  }
  std::byte room[kLongestInlineBytes];
  uint64_t bytes;
  const std::byte *from = bytesOf(line, room, bytes);
  aside.bytes.assign(from, from + bytes);
  asideBytes_ += keptBytes(aside);
  if (isBehind_ || asideBytes_ < options_.asideBytes)
    return;
  sweep();
  if (asideBytes_ >= options_.asideBytes)
    setBehind(true);
}

bool LaneReceiver::isCancelled(const Aside &aside) const {
  return aside.kind == LineKind::Request &&
         stateOf(aside.request).load(std::memory_order_acquire) !=
             wordOf(aside.request.use, State::Offered);
}

// What came for runs that are over here nobody will want, and what was cancelled nobody can have.
// The more there is aside the rarer it is looked at.
void LaneReceiver::sweep() {
  dropAside([&](const Aside &aside) { return isCancelled(aside) || book_.isOverHere(aside.key); });
  sweepAt_ = std::max(kSweepAtLeast, 2 * aside_.size());
}

void LaneReceiver::setBehind(bool isBehind) {
  isBehind_ = isBehind;
  header_->isBehind.store(isBehind, std::memory_order_relaxed);
}

// Of messages that ask whoever is there in time, and go at once to whoever is late.
void LaneReceiver::noteTime(uint64_t bytes, bool isLate) {
  if (bytes <= options_.eagerBytes || bytes > options_.ringBytes / 2)
    return;
  lateness_ = isLate ? std::min(lateness_ + 1, kMostLate) : lateness_ - std::min(lateness_, 1u);
  if (lateness_ != (isLate_ ? 0 : kMostLate))
    return;
  isLate_ = !isLate_;
  header_->isLate.store(isLate_, std::memory_order_relaxed);
}

void LaneReceiver::letGo(std::list<Aside>::iterator aside) {
  asideBytes_ -= keptBytes(*aside);
  if (isBehind_ && asideBytes_ < options_.asideBytes / 2)
    setBehind(false);
  spare_.splice(spare_.begin(), aside_, aside);
}

bool LaneReceiver::takeFromAside(Message &message) {
  auto at = std::find_if(aside_.begin(), aside_.end(),
                         [&](const Aside &aside) { return aside.key == message.key; });
  if (at == aside_.end())
    return false;
  bool isTaken = true;
  if (at->kind == LineKind::Request)
    isTaken = answer(message, at->request, at->ticket);
  else
    deliver(message, at->bytes.data(), at->bytes.size());
  letGo(at);
  return isTaken;
}

bool LaneReceiver::fits(Message &message, uint64_t bytes) {
  message.moved = bytes;
  if (accepts(message.payload, bytes))
    return true;
  message.tally->mismatched = &message;
  message.finish();
  return false;
}

// A message whose parts could not all be read comes once more, from its beginning.
void LaneReceiver::store(const Message &message, uint64_t offset, const std::byte *bytes,
                         uint64_t count) {
  if (!message.combining)
    return scatter(message.payload, offset, bytes, count);
  CombiningTarget &target = *message.combining;
  uint64_t known = std::min(count, target.combinedBytes - std::min(target.combinedBytes, offset));
  if (known < count)
    target.combine(offset + known, bytes + known, count - known);
  target.combinedBytes = std::max(target.combinedBytes, offset + count);
}

void LaneReceiver::deliver(Message &message, const std::byte *bytes, uint64_t count) {
  if (!fits(message, count))
    return;
  store(message, 0, bytes, count);
  message.finish();
}

void LaneReceiver::leave(const RequestBody &request, State state) {
  rendezvous::leave(stateOf(request), request.use, state);
  world_.wake(peer_);
}

void LaneReceiver::decline(const RequestBody &request) {
  rendezvous::decline(stateOf(request), request.use);
  world_.wake(peer_);
}

// False: the sender has cancelled, as if it had never asked.
bool LaneReceiver::answer(Message &message, const RequestBody &request, uint16_t ticket) {
  if (!rendezvous::claim(stateOf(request), request.use))
    return false;
  if (!fits(message, request.bytes)) {
    leave(request, State::Done);
    return true;
  }
  Place place = placeOf(world_, message.payload);
  bool announces = isSendersWork(message, request, place);
  if (!announces && copyDirectly(message, request)) {
    message.finish();
    return true;
  }
  awaitSender(message, request, ticket);
  if (announces || (place.isShared && !message.combining))
    announce(request, ticket, place);
  else
    leave(request, State::Ready);
  return true;
}

bool LaneReceiver::isSendersWork(const Message &message, const RequestBody &request,
                                 const Place &place) const {
  if (message.combining || (!place.isShared && !mayReach(request.bytes, place.pieces)))
    return false;
  return message.mover == Mover::Writer ||
         (message.mover == Mover::Either && request.loadKiB + kSpareKiB < message.tally->loadKiB);
}

// From memory that ranks share, or of this rank. False: its pieces cannot be combined.
bool LaneReceiver::copyHere(const Message &message, const RequestBody &request) const {
  const Place &from = request.place;
  if (from.isShared || from.pieces == 1) {
    store(message, 0,
          from.isShared ? world_.at(from.address)
                        : reinterpret_cast<const std::byte *>(from.address),
          request.bytes);
    return true;
  }
  if (message.combining)
    return false;
  auto *pieces = reinterpret_cast<const iovec *>(from.address);
  copyPieces(message.payload, {pieces, from.pieces, false, false, request.bytes}, request.bytes);
  return true;
}

// Under a claim. True: all is here, the claim is left, and the sender knows it.
bool LaneReceiver::copyDirectly(Message &message, const RequestBody &request) {
  const Place &from = request.place;
  if (from.isShared || isOwn_) {
    if (!copyHere(message, request))
      return false;
    leave(request, State::Done);
    return true;
  }
  if (!mayReach(request.bytes, from.pieces))
    return false;
  if (message.combining)
    return combineDirectly(message, request);
  pid_t process = world_.control(peer_).pid.load(std::memory_order_relaxed);
  cma::Outcome outcome =
      cma::read({process, from.address, from.pieces, request.bytes}, message.payload);
  canReach_ = outcome != cma::Outcome::Forbidden;
  if (outcome == cma::Outcome::Copied)
    leave(request, State::Done);
  return outcome == cma::Outcome::Copied;
}

// Part by part, each of which stays in a cache until it is combined. What was combined before a
// part cannot be read is not combined again.
bool LaneReceiver::combineDirectly(Message &message, const RequestBody &request) {
  const Place &from = request.place;
  if (from.pieces != 1)
    return false;
  pid_t process = world_.control(peer_).pid.load(std::memory_order_relaxed);
  const CombiningTarget &target = *message.combining;
  const uint64_t most = kPartBytes - kPartBytes % target.elementBytes;
  if (!target.room)
    part_.resize(most);
  for (uint64_t offset = 0; offset < request.bytes; offset += most) {
    std::byte *at = target.room ? target.room + offset : part_.data();
    iovec part{at, std::min(most, request.bytes - offset)};
    cma::Outcome outcome = cma::read({process, from.address + offset, 1, part.iov_len},
                                     {&part, 1, false, false, part.iov_len});
    canReach_ = canReach_ && outcome != cma::Outcome::Forbidden;
    if (outcome != cma::Outcome::Copied)
      return false;
    if (offset + part.iov_len == request.bytes)
      leave(request, State::Done); // the sender need not wait for the combine
    store(message, offset, at, part.iov_len);
  }
  return true;
}

void LaneReceiver::awaitSender(Message &message, const RequestBody &request, uint16_t ticket) {
  message.moved = 0;
  if (ticket >= streams_.size()) {
    streams_.resize(ticket + 1u);
    announced_.reserve(streams_.size());
  }
  streams_[ticket] = {&message, request};
}

void LaneReceiver::announce(const RequestBody &request, uint16_t ticket, const Place &place) {
  reinterpret_cast<Answer *>(world_.at(request.answer))->place = place;
  announced_.push_back(ticket);
  leave(request, State::Announced);
}

// The oldest that its sender has not begun with.
bool LaneReceiver::takeBack() {
  for (uint16_t ticket : announced_) {
    auto [message, request] = streams_[ticket];
    bool canCopy = request.place.isShared || mayReach(request.bytes, request.place.pieces);
    if (!canCopy || !rendezvous::takeBack(stateOf(request), request.use))
      continue;
    std::erase(announced_, ticket);
    if (!copyDirectly(*message, request)) {
      leave(request, State::Ready);
      return true;
    }
    streams_[ticket].message = nullptr;
    message->moved = request.bytes;
    message->finish();
    return true;
  }
  return false;
}

void LaneReceiver::takeFragment(const Line &line) {
  Stream &stream = streams_[line.ticket];
  std::erase(announced_, line.ticket); // it could not be written
  if (!stream.message)
    return; // its receive was given up
  Message &message = *stream.message;
  const RingBody &body = line.body.ring;
  store(message, message.moved, ring_ + body.place, body.bytes);
  message.moved += body.bytes;
  if (message.moved < stream.request.bytes)
    return;
  stream.message = nullptr;
  message.finish();
}

void LaneReceiver::takeWritten(const Line &line) {
  Stream &stream = streams_[line.ticket];
  std::erase(announced_, line.ticket);
  if (!stream.message)
    return; // its receive was given up
  stream.message->moved = stream.request.bytes;
  stream.message->finish();
  stream.message = nullptr;
}

// Its receive waits as if nothing had come.
void LaneReceiver::takeCancelled(const Line &line) {
  std::erase(announced_, line.ticket);
  if (Message *message = std::exchange(streams_[line.ticket].message, nullptr))
    posted_.push(*message);
}

bool LaneReceiver::revokeAll(const Tally &tally) {
  for (uint16_t ticket : announced_) {
    const auto &[message, request] = streams_[ticket];
    if (message->tally == &tally && !rendezvous::endAnnouncement(stateOf(request), request.use))
      return false;
  }
  return true;
}

uint32_t LaneReceiver::forget(const Tally &tally) {
  uint32_t forgotten = posted_.removeIf([&](Message &m) { return m.tally == &tally; });
  std::erase_if(announced_,
                [&](uint16_t ticket) { return streams_[ticket].message->tally == &tally; });
  for (Stream &stream : streams_)
    if (stream.message && stream.message->tally == &tally) {
      stream.message = nullptr;
      ++forgotten;
    }
  return forgotten;
}

bool LaneReceiver::hasClosed(StreamId stream) const {
  return std::find(closedThere_.begin(), closedThere_.end(), stream) != closedThere_.end();
}

// A lane keeps its order: of a stream that both have closed nothing comes any more.
void LaneReceiver::takeClosed(StreamId stream) {
  bool isRefused = std::count(refused_.streams.begin(), refused_.streams.end(), stream) != 0;
  if (std::erase(closedHere_, stream) != 0 || isRefused)
    dropAside([&](const Aside &aside) { return streamOf(aside.key) == stream; });
  else
    closedThere_.push_back(stream);
}

void LaneReceiver::close(StreamId stream) {
  numOpen_ -= numOpen_ > 0;
  if (std::erase(closedThere_, stream) != 0)
    dropAside([&](const Aside &aside) { return streamOf(aside.key) == stream; });
  else
    closedHere_.push_back(stream);
}

void LaneReceiver::drop(const Refused::Run &run) {
  dropAside([&](const Aside &aside) { return run.is(aside.key); });
}

template <typename IsGone> void LaneReceiver::dropAside(IsGone isGone) {
  for (auto at = aside_.begin(); at != aside_.end();) {
    auto next = std::next(at);
    if (isGone(*at)) {
      if (at->kind == LineKind::Request) // its sender need not wait
        decline(at->request);
      letGo(at);
    }
    at = next;
  }
}

} // namespace colldsl::lanes
