#include "transports/lanes/LaneReceiver.h"

#include <algorithm>

namespace colldsl::lanes {

void LaneReceiver::connect(uint64_t offset) {
  header_ = reinterpret_cast<LaneHeader *>(world_.at(offset));
  lines_ = reinterpret_cast<const Line *>(header_ + 1);
  ring_ = reinterpret_cast<const std::byte *>(lines_ + kLines);
}

const std::byte *LaneReceiver::bytesOf(const Line &line, uint64_t &bytes) const {
  if (line.kind == LineKind::Inline) {
    bytes = line.inlineBytes;
    return line.body.data;
  }
  bytes = line.body.ring.bytes;
  return ring_ + line.body.ring.place;
}

bool LaneReceiver::takeEager(const Line &line, const Message &message) {
  if (line.kind == LineKind::Request || line.body.ring.bytes != message.payload.bytes)
    return false;
  scatter(message.payload, 0, ring_ + line.body.ring.place, line.body.ring.bytes);
  freeBytes(line);
  advance();
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
    if (line.stamp.load(std::memory_order_acquire) != taken_ + 1)
      break;
    take(line);
    if (line.kind == LineKind::Eager || line.kind == LineKind::Fragment)
      freeBytes(line);
    advance();
    moved = true;
  }
  return moved;
}

void LaneReceiver::take(const Line &line) {
  if (line.kind == LineKind::Fragment)
    return takeFragment(line);
  Message *message = posted_.take(line.key);
  if (!message)
    return setAside(line);
  if (line.kind == LineKind::Request)
    return answer(*message, line.body.request, line.ticket);
  uint64_t bytes;
  const std::byte *from = bytesOf(line, bytes);
  deliver(*message, from, bytes);
}

void LaneReceiver::setAside(const Line &line) {
  aside_.push_back({line.key, line.kind, line.ticket, {}, {}});
  Aside &aside = aside_.back();
  if (line.kind == LineKind::Request) {
    aside.request = line.body.request;
    return;
  }
  uint64_t bytes;
  const std::byte *from = bytesOf(line, bytes);
  aside.bytes.assign(from, from + bytes);
  asideBytes_ += bytes;
  if (asideBytes_ >= options_.asideBytes)
    header_->isBehind.store(1, std::memory_order_relaxed);
}

bool LaneReceiver::takeFromAside(Message &message) {
  auto at = std::find_if(aside_.begin(), aside_.end(),
                         [&](const Aside &aside) { return aside.key == message.key; });
  if (at == aside_.end())
    return false;
  Aside aside = std::move(*at);
  aside_.erase(at);
  if (aside.kind == LineKind::Request) {
    answer(message, aside.request, aside.ticket);
    return true;
  }
  asideBytes_ -= aside.bytes.size();
  if (asideBytes_ < options_.asideBytes / 2)
    header_->isBehind.store(0, std::memory_order_relaxed);
  deliver(message, aside.bytes.data(), aside.bytes.size());
  return true;
}

bool LaneReceiver::fits(Message &message, uint64_t bytes) {
  message.moved = bytes;
  if (accepts(message.payload, bytes))
    return true;
  message.tally->mismatched = &message;
  message.finish();
  return false;
}

void LaneReceiver::deliver(Message &message, const std::byte *bytes, uint64_t count) {
  if (!fits(message, count))
    return;
  scatter(message.payload, 0, bytes, count);
  message.finish();
}

void LaneReceiver::notify(uint16_t ticket, uint32_t notice) {
  header_->notices[ticket].store(notice, std::memory_order_release);
  world_.wake(peer_);
}

void LaneReceiver::answer(Message &message, const RequestBody &request, uint16_t ticket) {
  if (!fits(message, request.bytes))
    return notify(ticket, doneNotice(request.use));
  if (copyDirectly(message, request)) {
    notify(ticket, doneNotice(request.use));
    return message.finish();
  }
  message.moved = 0;
  streams_[ticket] = &message;
  ++streaming_;
  streamBytes_[ticket] = request.bytes;
  notify(ticket, readyNotice(request.use));
}

bool LaneReceiver::copyDirectly(Message &message, const RequestBody &request) {
  if (request.isShared) {
    scatter(message.payload, 0, world_.at(request.address), request.bytes);
    return true;
  }
  if (!canRead_ || request.bytes < options_.singleCopyMinBytes)
    return false;
  pid_t process = world_.control(peer_).pid.load(std::memory_order_relaxed);
  cma::ReadOutcome outcome =
      cma::read({process, request.address, request.pieces, request.bytes}, message.payload);
  canRead_ = outcome != cma::ReadOutcome::Forbidden;
  return outcome == cma::ReadOutcome::Read;
}

void LaneReceiver::takeFragment(const Line &line) {
  if (!streams_[line.ticket])
    return; // its receive was given up
  Message &message = *streams_[line.ticket];
  const RingBody &body = line.body.ring;
  scatter(message.payload, message.moved, ring_ + body.place, body.bytes);
  message.moved += body.bytes;
  if (message.moved < streamBytes_[line.ticket])
    return;
  streams_[line.ticket] = nullptr;
  --streaming_;
  message.finish();
}

void LaneReceiver::forget(const Tally &tally) {
  posted_.removeIf([&](Message &m) { return m.tally == &tally; });
  for (Message *&stream : streams_)
    if (stream && stream->tally == &tally) {
      stream = nullptr;
      --streaming_;
    }
}

} // namespace colldsl::lanes
