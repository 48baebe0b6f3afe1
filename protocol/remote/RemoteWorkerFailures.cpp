// Notifications of failures, and the drain of messages that follows.
#include "protocol/remote/RemoteWorker.h"
#include "transports/network/FailureBody.h"

#include <algorithm>

namespace colldsl::protocol {

using network::FailureBody;
using network::Kind;
using network::Peer;
using network::ProcessMonitor;
using Clock = std::chrono::steady_clock;

namespace {

// Failed runs that are kept. Older ones are not looked up any more: a rank that is so many runs
// ahead of another has filled the window of each peer that is behind.
constexpr size_t kMaxRuns = 32 << 10;

} // namespace

// Notes a failure; `scope` null: of everything. True: it is new. Keeps nothing for a stream that is
// closed here.
bool RemoteWorker::note(const Tag *scope, const Fault &fault) {
  Fault known{fault.peer, kNoOp, fault.reason, fault.kind}; // ops are numbered by each rank
  bool isNew = false;
  if (!scope) {
    isNew = !allFailed_;
    if (isNew)
      allFailed_ = known;
  } else if (scope->run != kAllRuns) {
    std::pair run{streamOf(*scope), scope->run};
    isNew = failedRuns_.emplace(run, known).second;
    if (isNew)
      failedRunsInOrder_.push_back(run);
    if (failedRunsInOrder_.size() > kMaxRuns) {
      failedRuns_.erase(failedRunsInOrder_.front());
      failedRunsInOrder_.pop_front();
    }
  } else {
    StreamId stream = streamOf(*scope);
    auto opened = opened_.find(scope->context);
    bool isClosed = opened != opened_.end() && !users_.count(stream) &&
                    static_cast<int32_t>(scope->stream - opened->second) < 0;
    isNew = isClosed || failedStreams_.emplace(stream, known).second;
  }
  numReports_ += isNew;
  return isNew;
}

std::optional<Fault> RemoteWorker::findFailure(const Tag &run) const {
  if (auto found = failedStreams_.find(streamOf(run)); found != failedStreams_.end())
    return found->second;
  if (auto found = failedRuns_.find({streamOf(run), run.run}); found != failedRuns_.end())
    return found->second;
  return allFailed_;
}

void RemoteWorker::report(const Tag &scope, const Fault &fault, std::span<const Rank> toWhom) {
  if (!note(&scope, fault))
    return;
  FailureBody body = network::failureBody(false, self_, fault);
  if (scope.run == kAllRuns)
    passDown(scope, body, 0);
  body.root = kNoRank;
  for (Rank rank : toWhom)
    if (rank != self_)
      sendFailure(rank, scope, body);
  passOn(&scope, body);
}

void RemoteWorker::reportAll(const Fault &fault) {
  if (!note(nullptr, fault))
    return;
  FailureBody body = network::failureBody(true, self_, fault);
  passDown({}, body, 0);
  passOn(nullptr, body);
}

void RemoteWorker::sendFailure(Rank rank, const Tag &scope, const FailureBody &body) {
  if (Result<Peer *> peer = am_->peer(rank))
    am_->send(**peer, {.tag = scope, .kind = Kind::Failed}, body);
}

// Notifies the peers of a stream, which notify theirs: so they learn of the failure though ranks of
// the tree are dead, or do not look.
void RemoteWorker::passOn(const Tag *scope, FailureBody body) {
  body.root = kNoRank;
  if (!scope)
    return monitor_ ? monitor_->notify(body) : void();
  auto [first, last] = users_.equal_range(streamOf(*scope));
  std::vector<Rank> peers;
  for (auto at = first; at != last; ++at)
    if (at->second->hasRun(scope->run))
      peers.insert(peers.end(), at->second->peers().begin(), at->second->peers().end());
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  for (Rank peer : peers)
    if (peer != self_ && scope->run == kAllRuns)
      sendFailure(peer, *scope, body);
  discard(*scope);
  for (Rank peer : peers)
    if (peer != self_)
      drain(connection(peer), *scope);
}

// A binomial tree: places are counted from the root, and below place p are p + 1, p + 2, p + 4,
// ..., from the first power of two above p on. A rank stands in for a dead one below it.
// Example: 5 ranks, root 3: 3 notifies 4, 0 and 2; 4 notifies 1.
void RemoteWorker::passDown(const Tag &scope, const FailureBody &body, uint32_t below) {
  uint32_t step = 1;
  while (step <= below)
    step *= 2;
  for (; step < numRanks_ && below + step < numRanks_; step *= 2) {
    Rank child{(index(body.root) + below + step) % numRanks_};
    auto known = am_->peers().find(child);
    bool isDead = child == body.culprit && body.isOfAll;
    if (isDead || (known != am_->peers().end() && known->second->isLost))
      passDown(scope, body, below + step);
    else
      sendFailure(child, scope, body);
  }
}

void RemoteWorker::onFailed(const Tag &scope, std::span<const std::byte> bytes) {
  std::optional<FailureBody> read = network::readFailure(bytes);
  if (!read || (read->culprit != kNoRank && index(read->culprit) >= numRanks_))
    return;
  const FailureBody &body = *read;
  const Tag *what = body.isOfAll ? nullptr : &scope;
  bool isNew = note(what, {body.culprit, kNoOp, body.reason, body.kind});
  if (body.root != kNoRank && index(body.root) < numRanks_)
    passDown(scope, body, (index(self_) + numRanks_ - index(body.root)) % numRanks_);
  if (isNew)
    passOn(what, body);
  wake();
}

void RemoteWorker::discard(const Tag &scope) {
  StreamId stream = streamOf(scope);
  if (scope.run != kAllRuns)
    discarded_.add(RunId{stream, scope.run});
  else
    discarded_.add(stream);
  for (Connection *at : connections_) {
    at->receives.discard(scope);
    at->receives.wire().dropGets(scope);
    at->sends.wire().dropPuts(scope);
  }
}

// Drains a run, or a stream, that one end has cancelled.
void RemoteWorker::drain(Connection &at, const Tag &scope) {
  at.receives.wire().dropGets(scope);
  at.sends.wire().dropPuts(scope);
  draining_.push_back({at.peer.rank, scope});
  sendCancelAcks();
}

void RemoteWorker::sendCancelAcks() {
  std::erase_if(draining_, [this](const Drain &drain) {
    Connection &at = connection(drain.peer);
    if (at.sends.wire().hasOpenRma(drain.scope) || at.receives.wire().hasOpenRma(drain.scope))
      return false;
    am_->send(at.peer, {.tag = drain.scope, .kind = Kind::CancelAck}, std::span<const std::byte>());
    return true;
  });
}

// The next look finds out if the peer died.
void RemoteWorker::onLost(Peer &peer, const std::string &reason) {
  if (!peer.hasDisconnected)
    lost_.push_back({peer.rank, reason});
  nextPeerCheck_ = {};
}

void RemoteWorker::onBroken(const std::string &reason) {
  lost_.push_back({self_, reason});
  nextPeerCheck_ = {};
}

// A rank that left in order has sent its disconnect before, which may not be taken yet. A rank that
// leaves reports no failure, as its peers may have left already.
void RemoteWorker::checkPeers() {
  Clock::time_point now = Clock::now();
  if (now < nextPeerCheck_)
    return;
  nextPeerCheck_ = now + options_.watchInterval;
  for (const auto &[stream, user] : users_)
    user->probe(now);
  events_.clear();
  if (monitor_)
    monitor_->poll(events_);
  for (int i = 0; i < kMaxPolls && !events_.empty() && progress(); ++i) {
  }
  for (const ProcessMonitor::Event &event : std::exchange(events_, {}))
    onEvent(event);
  for (const Lost &lost : std::exchange(lost_, {})) {
    if (monitor_)
      monitor_->disconnect(lost.rank);
    if (!isLeaving_)
      reportAll({lost.rank, kNoOp,
                 "rank " + std::to_string(index(lost.rank)) +
                     (lost.rank == self_ ? " " : " cannot be reached: ") + lost.reason});
  }
}

void RemoteWorker::onEvent(const ProcessMonitor::Event &event) {
  if (event.what == ProcessMonitor::What::Failed)
    return onFailed({}, std::as_bytes(std::span(&event.failure, 1)));
  auto peer = am_->peers().find(event.rank);
  if (peer == am_->peers().end() || peer->second->hasDisconnected)
    return;
  peer->second->isLost = true;
  peer->second->isGone = event.what == ProcessMonitor::What::Died;
  if (!isLeaving_)
    reportAll(faultOf(event, self_));
}

} // namespace colldsl::protocol
