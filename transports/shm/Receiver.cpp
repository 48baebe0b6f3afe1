#include "transports/shm/Receiver.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <unistd.h>

namespace colldsl::shm {

SingleCopyState::SingleCopyState(const Options &options)
    : options_(options), usable_(options.singleCopy != SingleCopy::Off) {}

cma::Outcome SingleCopyState::read(const cma::RemotePayload &from, const Payload &to) {
  cma::Outcome outcome =
      options_.singleCopy == SingleCopy::Refused ? cma::Outcome::Forbidden : cma::read(from, to);
  if (outcome == cma::Outcome::Forbidden && usable_.exchange(false) && options_.warn)
    options_.warn("the kernel does not let ranks read each other's memory; large messages are "
                  "copied twice");
  return outcome;
}

Receiver::Receiver(World &world, SingleCopyState &singleCopy)
    : world_(world), singleCopy_(singleCopy), self_(getpid()) {}

void Receiver::addChannel(const EdgeSpec &edge, uint64_t offset) {
  Channel c;
  c.messages = static_cast<uint32_t>(edge.messages.size());
  c.lines = ringLines(c.messages, world_.options().maxRingLines);
  c.header = new (world_.at(offset)) ChannelHeader();
  c.ring = new (c.header + 1) FlagLine[c.lines]();
  c.states = new (c.ring + c.lines) std::atomic<uint32_t>[c.messages]();
  c.peer = edge.peer;
  c.firstRecord = static_cast<uint32_t>(records_.size());
  c.missing = c.messages;
  channels_.push_back(c);
  records_.resize(records_.size() + c.messages);
}

void Receiver::seal() {
  order_.resize(channels_.size());
  std::iota(order_.begin(), order_.end(), 0u);
}

Posted Receiver::post(MessageSlot slot, OpId op, const Payload &payload,
                      std::vector<Completion> &done) {
  Channel &c = channels_[slot.edge];
  Record &record = records_[c.firstRecord + slot.message];
  record.op = op;
  record.payload = payload;
  size_t before = done.size();
  if (payload.bytes == 0 && !payload.always) {
    finish(c, record, 0, done);
  } else if (record.state == State::Arrived) {
    deliver(c, record, record.kind, record.inlineBytes, record.body, done);
  } else {
    record.state = State::Posted;
  }
  if (fault_.peer != kNoRank)
    return Posted::Failed;
  if (done.size() == before || payload.upTo)
    return Posted::Pending;
  done.pop_back(); // the caller learns it here
  return Posted::Done;
}

// Takes a channel that is through for this run out of the open ones. They are all
// open again in the next run, without a loop over them.
void Receiver::poll(std::vector<Completion> &done) {
  for (uint32_t i = 0; i < open_;) {
    Channel &c = channels_[order_[i]];
    drain(c, done);
    if (c.finishedRun != run_)
      ++i;
    else
      std::swap(order_[i], order_[--open_]);
  }
}

void Receiver::drain(Channel &c, std::vector<Completion> &done) {
  for (;;) {
    const FlagLine &line = c.ring[c.taken & (c.lines - 1)];
    if (line.stamp.load(std::memory_order_acquire) != c.taken + 1 || line.run != run_)
      return;
    take(c, line, done);
    // The sender hears of free lines half a ring at a time.
    if (++c.taken - c.published < c.lines / 2)
      continue;
    c.published = c.taken;
    c.header->consumed.store(c.taken, std::memory_order_release);
    world_.wake(c.peer);
  }
}

void Receiver::take(Channel &c, const FlagLine &line, std::vector<Completion> &done) {
  Record &record = records_[c.firstRecord + line.message];
  switch (record.state) {
  case State::Empty:
    return hold(c, record, line);
  case State::Posted:
    return deliver(c, record, line.kind, line.inlineBytes, line.body, done);
  case State::Streaming:
    if (line.kind != LineKind::Fragment)
      return refuse({c.peer, record.op, "a message came twice in one run"});
    return takeFragment(c, record, line.body.cell, done);
  case State::Arrived:
    return refuse({c.peer, record.op, "a message came twice in one run"});
  }
}

void Receiver::hold(Channel &c, Record &record, const FlagLine &line) {
  record.state = State::Arrived;
  record.kind = line.kind;
  record.inlineBytes = line.inlineBytes;
  record.body = line.body;
}

void Receiver::deliver(Channel &c, Record &record, LineKind kind, uint16_t inlineBytes,
                       const LineBody &body, std::vector<Completion> &done) {
  switch (kind) {
  case LineKind::Inline:
    if (!accepts(record.payload, inlineBytes))
      return refuse(sizeMismatch(c.peer, record.op, record.payload, inlineBytes));
    scatter(record.payload, 0, body.data, inlineBytes);
    return finish(c, record, inlineBytes, done);
  case LineKind::Cell:
    if (!accepts(record.payload, body.cell.bytes))
      return refuse(sizeMismatch(c.peer, record.op, record.payload, body.cell.bytes));
    scatter(record.payload, 0, world_.at(body.cell.cell) + sizeof(CellHeader), body.cell.bytes);
    freeCell(c, body.cell.cell);
    return finish(c, record, body.cell.bytes, done);
  case LineKind::Request:
    return deliverRequest(c, record, body.request, done);
  case LineKind::Fragment:
    return refuse({c.peer, record.op, "a part of a message came unasked"});
  }
}

void Receiver::deliverRequest(Channel &c, Record &record, const RequestBody &request,
                              std::vector<Completion> &done) {
  if (!accepts(record.payload, request.bytes))
    return refuse(sizeMismatch(c.peer, record.op, record.payload, request.bytes));
  if (!rendezvous::claim(stateOf(c, record), request.use))
    return refuse(
        {c.peer, record.op, "rank " + std::to_string(index(c.peer)) + " has closed the plan"});
  if (readDirectly(c, record, request)) {
    leave(c, record, request.use, rendezvous::State::Done);
    return finish(c, record, request.bytes, done);
  }
  leave(c, record, request.use, rendezvous::State::Ready);
  if (fault_.peer != kNoRank)
    return;
  record.state = State::Streaming;
  record.bytes = request.bytes;
  record.received = 0;
}

bool Receiver::readDirectly(Channel &c, Record &record, const RequestBody &request) {
  pid_t process = world_.control(c.peer).pid.load(std::memory_order_relaxed);
  if (process == self_) {
    iovec whole{reinterpret_cast<void *>(request.address), request.bytes};
    const auto *list = reinterpret_cast<const iovec *>(request.address);
    Payload from{request.pieces == 1 ? &whole : list, request.pieces, false, false, request.bytes};
    copyPieces(record.payload, from, request.bytes);
    return true;
  }
  if (request.bytes < world_.options().singleCopyMinBytes || !singleCopy_.usable())
    return false;
  cma::RemotePayload from{process, request.address, request.pieces, request.bytes};
  switch (singleCopy_.read(from, record.payload)) {
  case cma::Outcome::Copied:
    return true;
  case cma::Outcome::Forbidden:
    return false;
  case cma::Outcome::ProcessGone:
    refuse({c.peer, record.op, reasonOfDeath(c.peer), ErrorKind::RankDied});
    return false;
  case cma::Outcome::BadAddress:
    refuse({c.peer, record.op, "the sender's memory cannot be read"});
    return false;
  }
  return false;
}

void Receiver::takeFragment(Channel &c, Record &record, const CellBody &body,
                            std::vector<Completion> &done) {
  scatter(record.payload, record.received, world_.at(body.cell) + sizeof(CellHeader), body.bytes);
  freeCell(c, body.cell);
  record.received += body.bytes;
  if (record.received == record.bytes)
    finish(c, record, record.bytes, done);
}

void Receiver::freeCell(Channel &c, uint64_t offset) {
  auto *cell = reinterpret_cast<CellHeader *>(world_.at(offset));
  cell->busy.store(0, std::memory_order_release);
  world_.wake(c.peer);
}

void Receiver::leave(Channel &c, const Record &record, uint32_t use, rendezvous::State state) {
  rendezvous::leave(stateOf(c, record), use, state);
  world_.wake(c.peer);
}

void Receiver::finish(Channel &c, Record &record, uint64_t bytes, std::vector<Completion> &done) {
  record.state = State::Empty;
  if (--c.missing == 0) {
    c.missing = c.messages;
    c.finishedRun = run_;
  }
  done.push_back({record.op, bytes});
}

void Receiver::refuse(Fault fault) {
  if (fault_.peer == kNoRank)
    fault_ = std::move(fault);
}

OpId Receiver::openReceive(const Channel &c) const {
  for (uint32_t m = 0; m < c.messages; ++m) {
    const Record &record = records_[c.firstRecord + m];
    if (record.state == State::Posted || record.state == State::Streaming)
      return record.op;
  }
  return kNoOp;
}

// A sender may close once it has sent everything, long before this rank asks for it.
Rank Receiver::findDeserted(std::vector<Completion> &done) {
  for (uint32_t i = 0; i < open_; ++i) {
    Channel &c = channels_[order_[i]];
    if (c.header->senderClosed.load(std::memory_order_acquire) == 0 && !world_.hasLeft(c.peer))
      continue;
    drain(c, done); // what it had to say, it said before it closed
    if (openReceive(c) != kNoOp)
      return c.peer;
  }
  return kNoRank;
}

OpId Receiver::openOp(Rank peer) const {
  for (const Channel &c : channels_) {
    OpId op = peer == kNoRank || peer == c.peer ? openReceive(c) : kNoOp;
    if (op != kNoOp)
      return op;
  }
  return kNoOp;
}

void Receiver::close() {
  for (Channel &c : channels_) {
    for (uint32_t m = 0; m < c.messages; ++m) {
      Record &record = records_[c.firstRecord + m];
      if (record.state == State::Arrived && record.kind == LineKind::Cell)
        freeCell(c, record.body.cell.cell);
    }
    for (;; ++c.taken) {
      const FlagLine &line = c.ring[c.taken & (c.lines - 1)];
      if (line.stamp.load(std::memory_order_acquire) != c.taken + 1)
        break;
      if (line.kind == LineKind::Cell || line.kind == LineKind::Fragment)
        freeCell(c, line.body.cell.cell);
    }
    c.header->receiverClosed.store(1, std::memory_order_release);
    world_.wake(c.peer);
  }
}

bool Receiver::reclaimable(World &world, uint64_t offset) {
  auto *header = reinterpret_cast<ChannelHeader *>(world.at(offset));
  return header->senderClosed.load(std::memory_order_acquire) != 0;
}

} // namespace colldsl::shm
