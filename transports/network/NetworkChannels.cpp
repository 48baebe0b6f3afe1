#include "transports/network/NetworkChannels.h"

#include <algorithm>
#include <thread>

namespace colldsl::network {
namespace {

using Clock = std::chrono::steady_clock;

// What a peer wrote may be told after it has closed the plan.
constexpr std::chrono::nanoseconds kGrace = std::chrono::milliseconds(10);

// After a connection of a rank has broken.
constexpr std::chrono::nanoseconds kUntilDeathIsSeen = std::chrono::milliseconds(100);

} // namespace

Status NetworkChannels::addEdges(Side &side, std::span<const EdgeSpec> edges, bool sends) {
  size_t count = 0;
  for (const EdgeSpec &edge : edges)
    count += edge.messages.size();
  side.ends = std::vector<End>(count); // they stay where they are
  side.first.push_back(0);
  for (const EdgeSpec &edge : edges) {
    Result<Peer *> peer = endpoint_.watchedPeer(edge.peer);
    if (!peer)
      return peer.status();
    side.edgeOf.emplace(edge.peer, static_cast<uint32_t>(side.peers.size()));
    side.peers.push_back(*peer);
    for (uint32_t m = 0; m < edge.messages.size(); ++m) {
      End &end = side.ends[side.first.back() + m];
      end.peer = *peer;
      end.channels = this;
      end.sends = sends;
      end.message = m;
      end.id = edge.messages[m];
      if (!edge.ways.empty())
        end.way = edge.ways[m];
    }
    side.first.push_back(side.first.back() + static_cast<uint32_t>(edge.messages.size()));
  }
  return {};
}

Status NetworkChannels::connect(const OpenRequest &request) {
  if (Status s = addEdges(out_, request.out, true); !s)
    return s;
  if (Status s = addEdges(in_, request.in, false); !s)
    return s;
  addCasts();
  fresh_.reserve(out_.ends.size() + in_.ends.size());
  told_.reserve(out_.ends.size() + in_.ends.size());
  return {};
}

// False: the time is up, or nothing moves any more.
template <typename IsOver>
bool NetworkChannels::waitUntil(Lock &lock, Deadline deadline, IsOver isOver) {
  while (!isOver()) {
    if (endpoint_.isFrozen_ || Clock::now() >= deadline)
      return false;
    if (endpoint_.progress())
      continue;
    endpoint_.look();
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  return true;
}

// The carrier may still read or write what belongs to the caller. Whatever it has not ended by the
// deadline must not move later: memory of a peer that looks again then is written, or this rank's.
void NetworkChannels::drain(Lock &lock, Side &side, Deadline deadline) {
  for (End &end : side.ends) {
    if (!end.isOpen)
      continue;
    auto isLost = [&] { return !end.isOpen || end.peer->isLost; };
    waitUntil(lock, deadline, isLost);
    auto isOver = [&] { return !end.isOpen; };
    if (!waitUntil(lock, end.peer->isLost ? Clock::now() + kGrace : Deadline(), isOver)) {
      endpoint_.freeze(end.peer->rank);
      end.region.reset();
    }
  }
}

// A peer may be writing where this rank said that it may. It has ended all its writes when it
// closes the plan, or says that they have drained. What a peer that is lost had said before is
// here; one that was only silent may go on to write. A device writes by itself: so the memory is
// registered no more.
void NetworkChannels::awaitWriters(Lock &lock, Deadline deadline) {
  for (End &end : in_.ends) {
    if (end.ticket == End::kNoTicket)
      continue;
    waitUntil(lock, deadline, [&] { return end.ticket == End::kNoTicket || isDrained(*end.peer); });
    for (int i = 0; i < kMostPolls && end.peer->isLost && endpoint_.progress(); ++i) {
    }
    auto hasLeft = [&] {
      return end.ticket == End::kNoTicket || end.peer->saidGoodbye || end.peer->isGone;
    };
    bool isOver = end.peer->isLost ? waitUntil(lock, Clock::now() + kUntilDeathIsSeen, hasLeft)
                                   : end.ticket == End::kNoTicket || isDrained(*end.peer);
    if (isOver)
      continue;
    endpoint_.freeze(end.peer->rank);
    end.region.reset();
  }
}

// A peer may be reading what it was told of. It has ended all its reads when it closes the plan, or
// says that they have drained. One that looks later sees that the plan failed before it reads, if
// the carrier has brought it there; a read that was begun before takes less than the wait, or is
// confirmed (finishRead()). A peer that was not brought the failure must not read: its read fails.
void NetworkChannels::awaitReaders(Lock &lock, Deadline deadline) {
  for (End &end : out_.ends) {
    waitUntil(lock, deadline, [&] { return !end.mayBeRead || isDrained(*end.peer); });
    bool isOver = !end.mayBeRead || (isDrained(*end.peer) && !end.peer->isLost);
    if (!isOver && !end.peer->isLost && endpoint_.mail_->hasAll(*end.peer))
      endpoint_.keepUntilClosed(plan_, end.peer->rank, std::move(end.region));
    else if (!isOver)
      end.region.reset();
    end.mayBeRead = false;
  }
}

void NetworkChannels::close(Side &side) {
  bool isBusy = false;
  for (End &end : side.ends) {
    endpoint_.retire(end);
    end.region.reset();
    awaitNoMore(end);
    end.channels = nullptr;
    isBusy |= end.isOpen;
  }
  if (isBusy)
    endpoint_.orphans_.push_back(std::move(side.ends));
}

// Once to each peer, unless something still moves between the two.
void NetworkChannels::sayClosed() {
  for (const Side *side : {&out_, &in_})
    for (Peer *peer : side->peers)
      if (!peer->isSelf && !isMoving(*peer) && (side == &out_ || !out_.edgeOf.count(peer->rank)))
        endpoint_.mail_->say(*peer, {.plan = plan_, .kind = Kind::Closed},
                             ClosedBody{castsTo_[peer->rank]});
}

bool NetworkChannels::isMoving(const Peer &peer) const {
  for (const Side *side : {&out_, &in_})
    if (auto edge = side->edgeOf.find(peer.rank); edge != side->edgeOf.end())
      for (uint32_t e = side->first[edge->second]; e < side->first[edge->second + 1]; ++e)
        if (side->ends[e].isOpen)
          return true;
  return false;
}

// Once to each peer; the plan failed, so that nothing more begins to move.
void NetworkChannels::sayDrained() {
  for (const Side *side : {&out_, &in_})
    for (Peer *peer : side->peers)
      if (!peer->isSelf && !isMoving(*peer) && drainedSaid_.insert(peer->rank).second)
        endpoint_.mail_->say(*peer, {.plan = plan_, .kind = Kind::Drained},
                             std::span<const std::byte>());
}

void NetworkChannels::cancel() {
  Lock lock(endpoint_.mutex_);
  cancelHeld(lock);
}

void NetworkChannels::cancelHeld(Lock &lock) {
  if (std::exchange(isCancelled_, true))
    return;
  Deadline deadline = Clock::now() + endpoint_.linger();
  drain(lock, out_, deadline);
  drain(lock, in_, deadline);
  for (Side *side : {&out_, &in_})
    for (End &end : side->ends) {
      endpoint_.forget(end);
      end.state = End::State::Idle;
    }
  closeCasts();
  sayClosed();
  awaitWriters(lock, deadline);
  awaitReaders(lock, deadline);
}

NetworkChannels::~NetworkChannels() {
  Lock lock(endpoint_.mutex_);
  cancelHeld(lock);
  endpoint_.plans_.erase(plan_);
  endpoint_.failed_.erase(plan_);
  for (const auto &[key, aside] : aside_)
    if (aside.kind == Kind::Eager)
      endpoint_.mail_->consume(*key.first->peer, aside.body.size());
  close(out_);
  close(in_);
}

void NetworkChannels::start() {
  std::lock_guard lock(endpoint_.mutex_);
  ++run_;
  nextDoubt_ = {};
}

End &NetworkChannels::begin(Side &side, MessageSlot slot, OpId op, const Payload &payload) {
  End &end = side.ends[side.first[slot.edge] + slot.message];
  end.run = run_;
  end.op = op;
  end.payload = payload;
  end.bytes = payload.bytes;
  end.moved = 0;
  end.mayBeRead = false;
  end.isDoubted = false;
  end.isSkipped = false;
  return end;
}

// What peers name need not exist.
End *NetworkChannels::find(Side &side, Rank peer, uint32_t message) {
  auto edge = side.edgeOf.find(peer);
  if (edge == side.edgeOf.end())
    return nullptr;
  uint32_t first = side.first[edge->second], end = side.first[edge->second + 1];
  return message < end - first ? &side.ends[first + message] : nullptr;
}

void NetworkChannels::hold() {
  std::lock_guard lock(endpoint_.mutex_);
  endpoint_.carrier_->hold();
}

void NetworkChannels::push() {
  std::lock_guard lock(endpoint_.mutex_);
  endpoint_.carrier_->push();
}

std::span<const Completion> NetworkChannels::poll() {
  std::lock_guard lock(endpoint_.mutex_);
  splitGathered();
  endpoint_.progress();
  adoptFault();
  told_.clear();
  std::swap(told_, fresh_);
  return told_;
}

void NetworkChannels::await(End &end) {
  end.isAwaited = true;
  endpoint_.carrier_->expect(*end.peer);
}

void NetworkChannels::awaitNoMore(End &end) {
  if (std::exchange(end.isAwaited, false))
    endpoint_.carrier_->expectLess(*end.peer);
}

void NetworkChannels::finish(End &end) {
  end.state = End::State::Idle;
  awaitNoMore(end);
  if (endpoint_.carrier_->powers().pins && end.way.protocol != Protocol::Static)
    end.region.reset();
  fresh_.push_back({end.op, end.bytes});
  endpoint_.wake();
}

// If the plan failed elsewhere before, that is the reason for what happens here.
void NetworkChannels::failAt(Fault fault) {
  std::optional<Fault> earlier = endpoint_.failureOf(plan_);
  if (!found_)
    found_ = earlier ? std::move(*earlier) : std::move(fault);
}

void NetworkChannels::adoptFault() {
  if (found_)
    fail(std::move(*found_));
  found_.reset();
}

bool NetworkChannels::check() {
  if (failed())
    return false;
  std::lock_guard lock(endpoint_.mutex_);
  endpoint_.look();
  doubt();
  adoptFault();
  if (std::optional<Fault> fault = endpoint_.failureOf(plan_))
    fail(std::move(*fault));
  else if (isDeserted()) {
    Rank peer = findDeserted();
    abortHeld(
        {peer, openOpHeld(peer), "rank " + std::to_string(index(peer)) + " has closed the plan"});
  }
  return !failed();
}

bool NetworkChannels::isDeserted() {
  if (closedThere_.empty() || findDeserted() == kNoRank) {
    desertedAt_ = {};
    return false;
  }
  if (desertedAt_ == Clock::time_point())
    desertedAt_ = Clock::now();
  return Clock::now() - desertedAt_ > kGrace;
}

// A peer that closed the plan while this rank still needs it. What it said to several at once may
// come later, and what goes to several at once needs nothing of it.
Rank NetworkChannels::findDeserted() const {
  auto isClosed = [&](Rank peer) {
    auto closed = closedThere_.find(peer);
    if (closed == closedThere_.end() || closed->second == 0)
      return closed != closedThere_.end();
    auto heard = castsFrom_.find(peer);
    return heard != castsFrom_.end() && heard->second >= closed->second;
  };
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.state != End::State::Idle && end.state != End::State::Cast && !end.isOpen &&
          isClosed(end.peer->rank))
        return end.peer->rank;
  return kNoRank;
}

void NetworkChannels::abortHeld(const Fault &fault) {
  fail(fault);
  if (!endpoint_.hasFailed(plan_)) // else all know already
    endpoint_.report(plan_, fault);
}

void NetworkChannels::abort(const Fault &fault) {
  std::lock_guard lock(endpoint_.mutex_);
  abortHeld(fault);
  endpoint_.progress();
}

OpId NetworkChannels::openOpHeld(Rank peer) const {
  for (const Side *side : {&in_, &out_})
    for (const End &end : side->ends)
      if (end.state != End::State::Idle && (peer == kNoRank || peer == end.peer->rank))
        return end.op;
  return kNoOp;
}

OpId NetworkChannels::openOp(Rank peer) const {
  std::lock_guard lock(endpoint_.mutex_);
  return openOpHeld(peer);
}

} // namespace colldsl::network
