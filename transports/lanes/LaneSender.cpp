#include "transports/lanes/LaneSender.h"

#include <algorithm>
#include <limits>
#include <new>

namespace colldsl::lanes {
namespace {

constexpr uint32_t kTicketsAtOnce = 32;

constexpr uint64_t roundUp(uint64_t bytes) {
  return (bytes + kLineBytes - 1) & ~uint64_t{kLineBytes - 1};
}

} // namespace

LaneSender::LaneSender(shm::World &world, Rank peer, uint64_t offset, const Options &options,
                       shm::Arena &arena)
    : world_(world), peer_(peer), options_(options), arena_(arena),
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

bool LaneSender::mayBeEager(const Message &message) const {
  return message.payload.bytes <= options_.eagerBytes && !isBehind();
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
  return true;
}

bool LaneSender::makeTickets() {
  size_t first = tickets_.size(), end = first + kTicketsAtOnce;
  if (end > std::numeric_limits<uint16_t>::max())
    return false;
  uint64_t offset = arena_.allocate(kTicketsAtOnce * sizeof(std::atomic<uint32_t>));
  if (offset == shm::Arena::kNoRoom)
    return false;
  auto *notices = new (world_.at(offset)) std::atomic<uint32_t>[kTicketsAtOnce]();
  freeTickets_.reserve(end);
  for (size_t ticket = first; ticket < end; ++ticket) {
    tickets_.push_back({notices + (ticket - first)});
    freeTickets_.push_back(static_cast<uint16_t>(ticket));
  }
  return true;
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
  RequestBody &body = line.body.request;
  body = {payload.bytes, 0, *world_.offsetOf(ticket.notice, 4), payload.count, ticket.uses, false};
  if (payload.count == 1) {
    std::optional<uint64_t> shared = world_.offsetOf(payload.pieces[0].iov_base, payload.bytes);
    body.isShared = shared.has_value();
    body.address = shared ? *shared : reinterpret_cast<uint64_t>(payload.pieces[0].iov_base);
  } else {
    body.address = reinterpret_cast<uint64_t>(payload.pieces);
  }
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

bool LaneSender::readNotices() {
  bool moved = false;
  asked_.removeIf([&](Message &m) {
    Ticket &ticket = tickets_[m.ticket];
    uint32_t notice = ticket.notice->load(std::memory_order_acquire);
    if (notice == doneNotice(ticket.uses)) {
      ++ticket.uses;
      freeTickets_.push_back(m.ticket);
      m.moved = m.payload.bytes;
      m.finish();
    } else if (notice == readyNotice(ticket.uses)) {
      streams_.push(m);
    } else {
      return false;
    }
    return moved = true;
  });
  return moved;
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
    ++tickets_[m.ticket].uses;
    freeTickets_.push_back(m.ticket);
    m.finish();
  }
  return moved;
}

bool LaneSender::poll() {
  bool moved = !asked_.empty() && readNotices();
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

// The tickets of what was asked are not used again: the receiver may still answer.
void LaneSender::forget(const Tally &tally) {
  for (MessageQueue *queue : {&waiting_, &asked_, &streams_})
    queue->removeIf([&](Message &m) { return m.tally == &tally; });
}

} // namespace colldsl::lanes
