#include "transports/lanes/LaneSender.h"

#include <algorithm>
#include <limits>
#include <new>

namespace colldsl::lanes {
namespace {

using rendezvous::State;
using rendezvous::wordOf;

constexpr uint64_t roundUp(uint64_t bytes) {
  return (bytes + kLineBytes - 1) & ~uint64_t{kLineBytes - 1};
}

} // namespace

LaneSender::LaneSender(shm::World &world, Rank peer, uint64_t offset, const Options &options,
                       bool &canReach, shm::Arena &arena)
    : world_(world), peer_(peer), options_(options), canReach_(canReach), arena_(arena),
      header_(reinterpret_cast<LaneHeader *>(world.at(offset))),
      lines_(reinterpret_cast<Line *>(header_ + 1)),
      ring_(reinterpret_cast<std::byte *>(lines_ + kLines)) {}

bool LaneSender::refreshLines(uint32_t lines) {
  consumedSeen_ = header_->linesConsumed.load(std::memory_order_acquire);
  isHeldBack_ = isBehind();
  return produced_ + lines - consumedSeen_ <= kLines;
}

bool LaneSender::sendLonger(const Message &message) {
  uint64_t bytes = message.payload.bytes;
  if (!mayBeEager(message))
    return false;
  if (bytes > options_.inlineBytes)
    return hasLines(1) && putInRing(message, LineKind::Eager, 0, bytes);
  if (!hasLines(linesFor(bytes)))
    return false;
  putInLines(message);
  return true;
}

// The first line goes first: the receiver fetches the others while they are written.
void LaneSender::putInLines(const Message &message) {
  std::byte packed[kLongestInlineBytes];
  const std::byte *from = packed;
  if (message.payload.count == 1)
    from = static_cast<const std::byte *>(message.payload.pieces[0].iov_base);
  else
    gatherShort(packed, message.payload);
  uint64_t left = message.payload.bytes - kInlineBytes;
  Line &line = fill(message.key, LineKind::Inline);
  line.inlineBytes = static_cast<uint16_t>(message.payload.bytes);
  std::memcpy(line.body.data, from, kInlineBytes);
  from += kInlineBytes;
  line.stamp.store(++produced_, std::memory_order_release);
  for (; left > kMoreBytes; left -= kMoreBytes, from += kMoreBytes) {
    More &more = nextMore();
    std::memcpy(more.data, from, kMoreBytes);
    more.stamp.store(++produced_, std::memory_order_release);
  }
  More &last = nextMore();
  std::memcpy(last.data, from, left);
  last.stamp.store(++produced_, std::memory_order_release);
  world_.wake(peer_);
}

// Half a ring has room for what is skipped at its end. A receiver that is late is not asked where
// two copies are made anyway.
bool LaneSender::mayBeEager(const Message &message) const {
  if (message.protocol == Protocol::Rendezvous || isBehind())
    return false;
  uint64_t bytes = message.payload.bytes;
  return bytes <= options_.eagerBytes ||
         (bytes <= options_.ringBytes / 2 &&
          (message.protocol == Protocol::Eager ||
           (isLate() &&
            !(canReach_ && isWorthSingleCopy(options_, bytes, message.payload.count)))));
}

// Bytes of one line lie together: what is left at the end of the ring is skipped.
bool LaneSender::putInRing(const Message &message, LineKind kind, uint64_t offset, uint64_t bytes) {
  uint64_t size = options_.ringBytes, place = bytesProduced_ % size, skip = 0;
  if (place + bytes > size) {
    skip = size - place;
    place = 0;
  }
  uint64_t end = bytesProduced_ + skip + roundUp(bytes);
  if (end - bytesConsumedSeen_ > size) {
    bytesConsumedSeen_ = header_->bytesConsumed.load(std::memory_order_acquire);
    if (end - bytesConsumedSeen_ > size)
      return false;
  }
  gather(ring_ + place, message.payload, offset, bytes);
  bytesProduced_ = end;
  Line &line = fill(message.key, kind);
  line.ticket = message.ticket;
  line.body.ring = {end, static_cast<uint32_t>(place), static_cast<uint32_t>(bytes)};
  commit(line);
  ownRingAhead(bytes);
  return true;
}

// The receiver has read what lies there: to write to it this core must own it, which takes a way to
// the other core and back for each line. That is begun now, for a next message of the same length.
void LaneSender::ownRingAhead(uint64_t bytes) {
  constexpr uint64_t kMost = 8 << 10;
  for (uint64_t ahead = 0; ahead < std::min(bytes, kMost); ahead += kLineBytes)
    asm volatile("prefetchw %0" : : "m"(ring_[(bytesProduced_ + ahead) % options_.ringBytes]));
}

bool LaneSender::makeTickets() {
  size_t first = tickets_.size(), end = first + kTicketsAtOnce;
  if (end > std::numeric_limits<uint16_t>::max())
    return false;
  uint64_t offset = arena_.allocate(kTicketsAtOnce * sizeof(Answer));
  if (offset == shm::Arena::kNoRoom)
    return false;
  auto *answers = new (world_.at(offset)) Answer[kTicketsAtOnce]();
  freeTickets_.reserve(end);
  for (size_t ticket = first; ticket < end; ++ticket) {
    tickets_.push_back({answers + (ticket - first)});
    freeTickets_.push_back(static_cast<uint16_t>(ticket));
  }
  return true;
}

void LaneSender::reserve(uint32_t messages) {
  while (tickets_.size() < messages && makeTickets()) {
  }
}

bool LaneSender::ask(Message &message) {
  if (!hasLines(1) || (freeTickets_.empty() && !makeTickets()))
    return false;
  const Ticket &ticket = tickets_[freeTickets_.back()];
  message.ticket = freeTickets_.back();
  freeTickets_.pop_back();
  const Payload &payload = message.payload;
  Line &line = fill(message.key, LineKind::Request);
  line.ticket = message.ticket;
  line.body.request = {payload.bytes, placeOf(world_, payload),
                       *world_.offsetOf(ticket.answer, sizeof(Answer)), ticket.use,
                       message.tally->loadKiB};
  commit(line);
  return true;
}

// Whatever does not go out now waits: at the receiver's for an answer, or here for room.
bool LaneSender::publish(Message &message) {
  if (send(message)) {
    message.moved = message.payload.bytes;
    message.finish();
    return true;
  }
  if (mayBeEager(message) || !ask(message))
    return false;
  asked_.push(message);
  return true;
}

void LaneSender::post(Message &message) {
  message.moved = 0;
  ++message.tally->open;
  if (!waiting_.empty() || !publish(message))
    waiting_.push(message);
}

bool LaneSender::readAnswers() {
  bool moved = false;
  asked_.removeIf([&](Message &m) {
    const Ticket &ticket = tickets_[m.ticket];
    uint32_t state = ticket.answer->state.load(std::memory_order_acquire);
    if (state == wordOf(ticket.use, State::Done))
      finish(m);
    else if (state == wordOf(ticket.use, State::Ready))
      streams_.push(m);
    else if (state != wordOf(ticket.use, State::Announced) || !write(m))
      return false;
    return moved = true;
  });
  return moved;
}

void LaneSender::reuse(uint16_t ticket) {
  Ticket &again = tickets_[ticket];
  rendezvous::offer(again.answer->state, ++again.use);
  freeTickets_.push_back(ticket);
}

void LaneSender::finish(Message &message) {
  reuse(message.ticket);
  message.moved = message.payload.bytes;
  message.finish();
}

// The receiver takes an announcement back by changing the word first. What cannot be written
// streams.
bool LaneSender::write(Message &message) {
  const Ticket &ticket = tickets_[message.ticket];
  std::atomic<uint32_t> &state = ticket.answer->state;
  if (!hasLines(1) || !rendezvous::claimWrite(state, ticket.use))
    return false;
  if (writeTo(ticket.answer->place, message.payload) != cma::Outcome::Copied) {
    rendezvous::leave(state, ticket.use, State::Ready);
    streams_.push(message);
    return true;
  }
  rendezvous::leave(state, ticket.use, State::Done);
  Line &line = fill(message.key, LineKind::Written);
  line.ticket = message.ticket;
  commit(line);
  finish(message);
  return true;
}

cma::Outcome LaneSender::writeTo(const Place &place, const Payload &payload) {
  if (place.isShared) {
    gather(world_.at(place.address), payload, 0, payload.bytes);
    return cma::Outcome::Copied;
  }
  pid_t process = world_.control(peer_).pid.load(std::memory_order_relaxed);
  cma::Outcome outcome = cma::write({process, place.address, place.pieces, payload.bytes}, payload);
  canReach_ = canReach_ && outcome != cma::Outcome::Forbidden;
  return outcome;
}

// One after the other: a ring shared by several would finish them all late.
bool LaneSender::stream() {
  bool moved = false;
  while (!streams_.empty()) {
    Message &m = *streams_.front();
    uint64_t bytes = std::min<uint64_t>(m.payload.bytes - m.moved, options_.fragmentBytes);
    if (!hasLines(1) || !putInRing(m, LineKind::Fragment, m.moved, bytes))
      return moved;
    moved = true;
    m.moved += bytes;
    if (m.moved < m.payload.bytes)
      continue;
    streams_.pop();
    finish(m);
  }
  return moved;
}

bool LaneSender::poll() {
  bool moved = !asked_.empty() && readAnswers();
  moved |= stream();
  while (!waiting_.empty()) {
    Message &m = *waiting_.front();
    waiting_.pop();
    if (!publish(m)) {
      waiting_.pushFront(m);
      break;
    }
    moved = true;
  }
  moved |= sayCancelled();
  return sayClosed() || moved;
}

void LaneSender::close(uint32_t context, uint32_t stream) {
  closing_.push_back({context, stream, 0, 0});
  sayClosed();
}

bool LaneSender::sayClosed() {
  bool moved = false;
  for (; !closing_.empty() && hasLines(1); moved = true) {
    commit(fill(closing_.back(), LineKind::Closed));
    closing_.pop_back();
  }
  return moved;
}

// A lane keeps its order: what uses the ticket next comes behind this line.
bool LaneSender::sayCancelled() {
  bool moved = false;
  for (; !cancelled_.empty() && hasLines(1); moved = true) {
    Line &line = fill({}, LineKind::Cancelled);
    line.ticket = cancelled_.back();
    commit(line);
    freeTickets_.push_back(cancelled_.back());
    cancelled_.pop_back();
  }
  return moved;
}

bool LaneSender::cancel(const Tally &tally, uint32_t &cancelled) {
  auto isOurs = [&](const Message &m) { return m.tally == &tally; };
  bool isOver = true;
  auto withdraw = [&](const Message &m) {
    if (!isOurs(m))
      return false;
    Ticket &ticket = tickets_[m.ticket];
    switch (rendezvous::cancel(ticket.answer->state, ticket.use)) {
    case rendezvous::Cancelled::NotYet:
      if (world_.isDead(peer_))
        return true;
      return isOver = false;
    case rendezvous::Cancelled::Awaited:
      cancelled_.push_back(m.ticket);
      break;
    case rendezvous::Cancelled::Unnoticed:
      freeTickets_.push_back(m.ticket);
      break;
    }
    ++ticket.use;
    return true;
  };
  for (MessageQueue *queue : {&asked_, &streams_})
    cancelled += queue->removeIf(withdraw);
  cancelled += waiting_.removeIf(isOurs);
  sayCancelled();
  return isOver;
}

} // namespace colldsl::lanes
