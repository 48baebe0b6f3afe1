#include "transports/shm/Sender.h"

#include <algorithm>

namespace colldsl::shm {
namespace {

using rendezvous::State;
using rendezvous::wordOf;

} // namespace

void Sender::addChannel(const EdgeSpec &edge, uint64_t offset) {
  auto messages = static_cast<uint32_t>(edge.messages.size());
  Channel c;
  c.header = reinterpret_cast<ChannelHeader *>(world_.at(offset));
  c.ring = reinterpret_cast<FlagLine *>(c.header + 1);
  c.lines = ringLines(messages, world_.options().maxRingLines);
  c.states = reinterpret_cast<std::atomic<uint32_t> *>(c.ring + c.lines);
  c.peer = edge.peer;
  c.firstRecord = static_cast<uint32_t>(records_.size());
  channels_.push_back(c);
  records_.resize(records_.size() + messages);
}

void Sender::seal() { active_.reserve(channels_.size()); }

FlagLine *Sender::nextLine(Channel &c) {
  if (c.produced - c.consumedSeen == c.lines) {
    c.consumedSeen = c.header->consumed.load(std::memory_order_acquire);
    if (c.produced - c.consumedSeen == c.lines)
      return nullptr;
  }
  return &c.ring[c.produced & (c.lines - 1)];
}

void Sender::commit(Channel &c, FlagLine &line, const Record &r, LineKind kind) {
  line.run = run_;
  line.message = r.message;
  line.kind = kind;
  line.stamp.store(++c.produced, std::memory_order_release);
  world_.wake(c.peer);
}

Sender::Published Sender::publish(Channel &c, uint32_t record) {
  Record &r = records_[record];
  FlagLine *line = nextLine(c);
  if (!line)
    return Published::NoRoom;
  uint64_t bytes = r.payload.bytes;
  if (bytes <= kInlineBytes) {
    gather(line->body.data, r.payload, 0, bytes);
    line->inlineBytes = static_cast<uint16_t>(bytes);
    commit(c, *line, r, LineKind::Inline);
    return Published::Done;
  }
  const Options &options = world_.options();
  if (bytes <= options.cellBytes) {
    if (CellHeader *cell = cells_.take(options.reservedCells)) {
      gather(bytesOf(cell), r.payload, 0, bytes);
      auto offset = static_cast<uint64_t>(reinterpret_cast<std::byte *>(cell) - world_.at(0));
      line->body.cell = {bytes, offset};
      commit(c, *line, r, LineKind::Cell);
      return Published::Done;
    }
  }
  const void *address = r.payload.count == 1 ? r.payload.pieces[0].iov_base
                                             : static_cast<const void *>(r.payload.pieces);
  line->body.request = {bytes, reinterpret_cast<uint64_t>(address), r.payload.count, r.use};
  commit(c, *line, r, LineKind::Request);
  c.awaiting.push(records_, record);
  return Published::Requested;
}

void Sender::activate(Channel &c) {
  if (c.active)
    return;
  c.active = true;
  active_.push_back(static_cast<uint32_t>(&c - channels_.data()));
}

Posted Sender::post(MessageSlot slot, OpId op, const Payload &payload) {
  if (payload.bytes == 0 && !payload.always)
    return Posted::Done;
  Channel &c = channels_[slot.edge];
  uint32_t record = c.firstRecord + slot.message;
  records_[record] = {payload, 0, op, slot.message, kEndOfList, records_[record].use};
  if (c.unsent.empty()) {
    Published p = publish(c, record);
    if (p == Published::Done)
      return Posted::Done;
    activate(c);
    if (p == Published::Requested)
      return Posted::Pending;
  }
  c.unsent.push(records_, record);
  return Posted::Pending;
}

void Sender::finish(const Channel &c, Record &r, std::vector<Completion> &done) const {
  rendezvous::offer(stateOf(c, r), ++r.use);
  done.push_back({r.op, r.payload.bytes});
}

void Sender::readAnswers(Channel &c, std::vector<Completion> &done) {
  c.awaiting.removeIf(records_, [&](uint32_t i) {
    Record &r = records_[i];
    uint32_t state = stateOf(c, r).load(std::memory_order_acquire);
    if (state == wordOf(r.use, State::Done)) {
      finish(c, r, done);
      return true;
    }
    if (state != wordOf(r.use, State::Ready))
      return false;
    c.streams.push(records_, i);
    return true;
  });
}

void Sender::sendWaiting(Channel &c, std::vector<Completion> &done) {
  while (!c.unsent.empty() && nextLine(c)) {
    uint32_t i = c.unsent.front();
    c.unsent.pop(records_);
    if (publish(c, i) == Published::Done)
      done.push_back({records_[i].op, records_[i].payload.bytes});
  }
}

bool Sender::sendFragment(Channel &c, Record &r) {
  FlagLine *line = nextLine(c);
  CellHeader *cell = line ? cells_.take(0) : nullptr;
  if (!cell)
    return false;
  uint64_t bytes = std::min<uint64_t>(cells_.cellBytes(), r.payload.bytes - r.sent);
  gather(bytesOf(cell), r.payload, r.sent, bytes);
  auto offset = static_cast<uint64_t>(reinterpret_cast<std::byte *>(cell) - world_.at(0));
  line->body.cell = {bytes, offset};
  commit(c, *line, r, LineKind::Fragment);
  r.sent += bytes;
  return true;
}

void Sender::stream(Channel &c, std::vector<Completion> &done) {
  while (!c.streams.empty()) {
    Record &r = records_[c.streams.front()];
    if (!sendFragment(c, r))
      return;
    if (r.sent < r.payload.bytes)
      continue;
    c.streams.pop(records_);
    finish(c, r, done);
  }
}

void Sender::poll(std::vector<Completion> &done) {
  for (size_t i = 0; i < active_.size();) {
    Channel &c = channels_[active_[i]];
    readAnswers(c, done);
    sendWaiting(c, done);
    stream(c, done);
    if (!c.idle()) {
      ++i;
      continue;
    }
    c.active = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
}

Rank Sender::closedReceiver() const {
  for (uint32_t i : active_)
    if (channels_[i].header->receiverClosed.load(std::memory_order_acquire) != 0 ||
        world_.hasLeft(channels_[i].peer))
      return channels_[i].peer;
  return kNoRank;
}

// What a receiver noticed, it noticed before it closed: look again before judging.
Rank Sender::findDeserted(std::vector<Completion> &done) {
  if (closedReceiver() == kNoRank)
    return kNoRank;
  poll(done);
  return closedReceiver();
}

OpId Sender::openOp(Rank peer) const {
  for (uint32_t i : active_) {
    const Channel &c = channels_[i];
    if (!c.idle() && (peer == kNoRank || peer == c.peer))
      return records_[c.anyRecord()].op;
  }
  return kNoOp;
}

bool Sender::cancel() {
  bool isOver = true;
  for (uint32_t at : active_) {
    Channel &c = channels_[at];
    auto withdraw = [&](uint32_t i) {
      Record &r = records_[i];
      bool isCopied = rendezvous::cancel(stateOf(c, r), r.use) == rendezvous::Cancelled::NotYet &&
                      !world_.isDead(c.peer);
      isOver = isOver && !isCopied;
      r.use += !isCopied;
      return !isCopied;
    };
    c.awaiting.removeIf(records_, withdraw);
    c.streams.removeIf(records_, withdraw);
    c.unsent.removeIf(records_, [](uint32_t) { return true; });
  }
  return isOver;
}

void Sender::close() {
  for (Channel &c : channels_) {
    c.header->senderClosed.store(1, std::memory_order_release);
    world_.wake(c.peer);
  }
}

} // namespace colldsl::shm
