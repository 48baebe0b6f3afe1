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
  if (line.kind != LineKind::Eager || line.body.ring.bytes != message.payload.bytes)
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
  if (line.kind == LineKind::Closed)
    return takeClosed(streamOf(line.key));
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
  uint64_t bytes;
  const std::byte *from = bytesOf(line, bytes);
  aside.bytes.assign(from, from + bytes);
  asideBytes_ += keptBytes(aside);
  if (!isBehind_ && asideBytes_ >= options_.asideBytes)
    setBehind(true);
}

void LaneReceiver::setBehind(bool isBehind) {
  isBehind_ = isBehind;
  header_->isBehind.store(isBehind, std::memory_order_relaxed);
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
  if (at->kind == LineKind::Request)
    answer(message, at->request, at->ticket);
  else
    deliver(message, at->bytes.data(), at->bytes.size());
  letGo(at);
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

void LaneReceiver::notify(const RequestBody &request, uint32_t notice) {
  auto *word = reinterpret_cast<std::atomic<uint32_t> *>(world_.at(request.notice));
  word->store(notice, std::memory_order_release);
  world_.wake(peer_);
}

void LaneReceiver::answer(Message &message, const RequestBody &request, uint16_t ticket) {
  if (!fits(message, request.bytes))
    return notify(request, doneNotice(request.use));
  if (copyDirectly(message, request)) {
    notify(request, doneNotice(request.use));
    return message.finish();
  }
  message.moved = 0;
  if (ticket >= streams_.size())
    streams_.resize(ticket + 1u);
  streams_[ticket] = {&message, request.bytes};
  ++streaming_;
  notify(request, readyNotice(request.use));
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
  Stream &stream = streams_[line.ticket];
  if (!stream.message)
    return; // its receive was given up
  Message &message = *stream.message;
  const RingBody &body = line.body.ring;
  scatter(message.payload, message.moved, ring_ + body.place, body.bytes);
  message.moved += body.bytes;
  if (message.moved < stream.bytes)
    return;
  stream.message = nullptr;
  --streaming_;
  message.finish();
}

void LaneReceiver::forget(const Tally &tally) {
  posted_.removeIf([&](Message &m) { return m.tally == &tally; });
  for (Stream &stream : streams_)
    if (stream.message && stream.message->tally == &tally) {
      stream.message = nullptr;
      --streaming_;
    }
}

bool LaneReceiver::hasClosed(StreamId stream) const {
  return std::find(closedThere_.begin(), closedThere_.end(), stream) != closedThere_.end();
}

// A lane keeps its order: of a stream that both have closed nothing comes any more.
void LaneReceiver::takeClosed(StreamId stream) {
  bool isRefused = std::find(refused_.begin(), refused_.end(), stream) != refused_.end();
  if (std::erase(closedHere_, stream) != 0 || isRefused)
    dropAside(stream);
  else
    closedThere_.push_back(stream);
}

void LaneReceiver::close(StreamId stream) {
  if (std::erase(closedThere_, stream) != 0)
    dropAside(stream);
  else
    closedHere_.push_back(stream);
}

void LaneReceiver::dropAside(StreamId stream) {
  for (auto at = aside_.begin(); at != aside_.end();) {
    auto next = std::next(at);
    if (streamOf(at->key) == stream)
      letGo(at);
    at = next;
  }
}

} // namespace colldsl::lanes
