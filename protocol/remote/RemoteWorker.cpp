#include "protocol/remote/RemoteWorker.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace colldsl::protocol {

template class SendSide<RemoteSender>;
template class ReceiveSide<RemoteReceiver>;

using network::Header;
using network::Kind;
using network::Peer;
using network::ProbeBody;
using network::RankAddress;
using Clock = std::chrono::steady_clock;

namespace {

// After a connection of a rank has broken.
constexpr std::chrono::nanoseconds kUntilDeathIsSeen = std::chrono::milliseconds(100);

// Between two looks for canaries.
constexpr std::chrono::nanoseconds kCanaryNap = std::chrono::microseconds(50);

/// The body of a frame; nothing: the frame has another length.
template <typename Body> std::optional<Body> bodyOf(std::span<const std::byte> bytes) {
  Body body;
  if (bytes.size() != sizeof body)
    return std::nullopt;
  std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

Limits limitsOf(const network::Options &options) {
  Limits limits;
  limits.rendezvousThresholdBytes = limits.fragmentBytes = options.longestEagerBytes;
  limits.singleCopyMinBytes = 0;
  return limits;
}

} // namespace

RemoteWorker::RemoteWorker(Rank self, uint32_t numRanks, const network::Options &options,
                           std::unique_ptr<network::Transport> transport, std::mutex *guard,
                           const RunStatus *runs)
    : self_(self), numRanks_(numRanks), options_(options), limits_(limitsOf(options)),
      guard_(guard), runs_(runs), transport_(std::move(transport)),
      context_(*transport_, options_), receiver_{limits_, discarded_, *this, {}} {
  context_.discarded = &discarded_;
}

Result<std::unique_ptr<RemoteWorker>>
RemoteWorker::make(Rank self, uint32_t numRanks, const network::Options &options,
                   std::unique_ptr<network::Transport> transport, std::mutex *guard,
                   const RunStatus *runs) {
  std::unique_ptr<RemoteWorker> worker(
      new RemoteWorker(self, numRanks, options, std::move(transport), guard, runs));
  if (Status s = worker->openLocalRank(); !s)
    return s;
  return worker;
}

Status RemoteWorker::openLocalRank() {
  if (options_.longestEagerBytes > network::kMaxEagerBytes)
    return Status::error("eager messages have at most " + std::to_string(network::kMaxEagerBytes) +
                         " bytes");
  options_.rmaThresholdBytes = std::min(options_.rmaThresholdBytes, options_.longestEagerBytes);
  if (options_.postedReceives == 0 || options_.fragments == 0)
    return Status::error("a rank needs receives and fragments");
  if (transport_->capabilities().isWatched) {
    Result<network::LocalRank> local = network::openLocalRank(*transport_, self_, options_);
    if (!local)
      return local.status();
    rankAddress_ = local->rankAddress;
    monitor_ = std::move(local->monitor);
  }
  waker_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return {};
}

Status RemoteWorker::start(network::Directory directory) {
  auto held = lockIf(guard_);
  directory_ = std::move(directory);
  ActiveMessageHandler &handler = *this;
  am_.emplace(*transport_, handler, self_, rankAddress_.token, options_);
  context_.am = &*am_;
  if (network::Multicast *multicast = transport_->multicast())
    multicast->setHandler(*this);
  return am_->start(directory_);
}

Status RemoteWorker::connect(Rank rank) {
  Result<Peer *> peer = am_->peer(rank);
  if (!peer)
    return peer.status();
  if (monitor_ && !(*peer)->isSelf)
    if (Result<RankAddress> rankAddress = directory_(rank))
      monitor_->add(rank, *rankAddress);
  connectionOf(**peer);
  return {};
}

RemoteWorker::Connection &RemoteWorker::connection(Rank rank) {
  return connectionOf(*am_->peers().find(rank)->second);
}

RemoteWorker::Connection &RemoteWorker::connectionOf(Peer &peer) {
  if (!peer.state) {
    auto made = std::make_unique<Connection>(*this, peer);
    connections_.push_back(made.get());
    peer.state = std::move(made);
  }
  return static_cast<Connection &>(*peer.state);
}

// An allocation at the addresses of one that was freed has another id.
std::shared_ptr<network::DeviceRegistration>
RemoteWorker::registerDevice(const network::DeviceMemory &memory) {
  auto end = [guard = guard_](network::DeviceRegistration *registration) {
    auto heldAtEnd = lockIf(guard);
    delete registration;
  };
  // These end once the guard is free, also if there is no memory.
  std::shared_ptr<network::DeviceRegistration> known,
      made(new network::DeviceRegistration{{}, memory.memory, memory.id}, end);
  auto held = lockIf(guard_);
  std::erase_if(deviceMemory_, [](const auto &entry) { return entry.second.expired(); });
  std::weak_ptr<network::DeviceRegistration> &entry = deviceMemory_[memory.id];
  known = entry.lock();
  if (known && known->region)
    return known;
  Result<network::Region> region = transport_->registerDevice(memory);
  if (!region)
    return nullptr;
  made->region = region.take();
  entry = made;
  return made;
}

bool RemoteWorker::progress() {
  if (isFrozen_)
    return false;
  bool moved = am_->poll();
  if (!context_.watches.empty())
    moved |= context_.takeWatched();
  if (!context_.rmaQueue.empty())
    moved |= startRmas();
  for (Connection *at : connections_)
    if (at->sends.isBusy())
      moved |= at->sends.progress();
  for (size_t i = 0; i < multicasting_.size(); ++i)
    moved |= multicasting_[i]->multicastAll();
  if (moved)
    wake(); // another thread, which may be about to sleep, may need what moved
  return moved;
}

// Starts the queued operations, once all frames that came are taken.
bool RemoteWorker::startRmas() {
  for (int i = 0; i < kMaxPolls && am_->poll(); ++i) {
  }
  std::vector<RemoteRma *> now = std::exchange(context_.rmaQueue, {});
  for (RemoteRma *rma : now)
    if (!rma->owner->startRma(rma->id))
      context_.rmaQueue.push_back(rma);
  return context_.rmaQueue.size() < now.size();
}

std::chrono::nanoseconds RemoteWorker::linger() const {
  return allFailed_ ? options_.lingerAfterFailure : options_.linger;
}

// Other threads may progress the worker meanwhile. False: the time is up, or nothing moves any
// more.
template <typename IsOver> bool RemoteWorker::waitUntil(Clock::time_point deadline, IsOver isOver) {
  while (!isOver()) {
    if (allFailed_ && options_.cancelsWithoutTimeout)
      deadline = std::min(deadline, Clock::now()); // it has failed meanwhile
    if (isFrozen_ || Clock::now() >= deadline)
      return false;
    if (progress())
      continue;
    checkPeers();
    if (moveOthers_)
      moveOthers_();
    if (guard_)
      guard_->unlock();
    std::this_thread::yield();
    if (guard_)
      guard_->lock();
  }
  return true;
}

void RemoteWorker::cancel(const CompletionCounter &counter) {
  bool hasNoDeadline = options_.cancelsWithoutTimeout && !allFailed_;
  auto deadline = hasNoDeadline ? Clock::time_point::max() : Clock::now() + linger();
  for (size_t i = 0; i < connections_.size(); ++i)
    cancel(*connections_[i], counter, deadline);
}

// The transport may still read or write the caller's memory, and so may the peer. Messages that
// have not ended by the deadline must not move later: their memory is no longer registered, and as
// some providers write into it nevertheless, nothing moves any more.
void RemoteWorker::cancel(Connection &at, const CompletionCounter &counter,
                          Clock::time_point deadline) {
  if (at.peer.isLost)
    deadline = std::min(deadline, Clock::now() + kUntilDeathIsSeen);
  uint32_t cancelled = 0;
  bool isOver = waitUntil(deadline, [&] { return at.sends.cancel(counter, cancelled); }) ||
                !at.sends.cancelUnconfirmed(counter);
  isOver &= waitUntil(deadline, [&] { return at.receives.cancelRtrs(counter); });
  if (!isOver)
    freeze(at.peer.rank);
  at.receives.cancel(counter);
  at.receives.wire().takeDeferred();
}

void RemoteWorker::freeze(Rank peer) {
  reportAll({peer, kNoOp,
             "rank " + std::to_string(index(peer)) +
                 " may still write for a plan that failed, and does not answer"});
  isFrozen_ = true;
}

// Frames of this rank must reach its peers though they look later: the wait begins again with each
// frame that is taken. After a failure of everything peers leave, too, and may not answer.
void RemoteWorker::disconnect() {
  auto held = lockIf(guard_);
  isLeaving_ = true;
  for (auto &[rank, peer] : am_->peers())
    if (!peer->isSelf && !peer->hasDisconnected) {
      am_->send(*peer, {.kind = Kind::Disconnect}, std::span<const std::byte>());
      peer->wasSentDisconnect = true;
    }
  uint64_t done = am_->numDone(), sent = am_->numSent();
  auto deadline = Clock::now() + linger();
  while (!(allHaveDisconnected() && isIdle()) && Clock::now() < deadline) {
    bool moved = progress();
    if (done < sent && am_->numDone() > done) {
      done = am_->numDone();
      deadline = Clock::now() + linger();
    }
    if (moved)
      continue;
    checkPeers();
    if (held)
      held.unlock();
    std::this_thread::yield();
    if (guard_)
      held.lock();
  }
}

bool RemoteWorker::isIdle() const {
  network::Multicast *multicast = transport_->multicast();
  for (const Connection *at : connections_)
    if (at->sends.isBusy() && !at->peer.isLost)
      return false;
  return am_->isIdle() && (!multicast || multicast->isIdle());
}

bool RemoteWorker::allHaveDisconnected() const {
  return std::all_of(am_->peers().begin(), am_->peers().end(), [](const auto &entry) {
    const Peer &peer = *entry.second;
    return peer.isSelf || peer.isLost || peer.hasDisconnected || peer.acknowledgedDisconnect;
  });
}

// The transport stops before the memory that it uses goes.
RemoteWorker::~RemoteWorker() {
  if (am_ && !isLeaving_)
    disconnect();
  if (isFrozen_)
    transport_->stopUnconfirmed();
  else
    transport_->stop();
  if (waker_ >= 0)
    ::close(waker_);
}

void RemoteWorker::addUser(StreamId stream, StreamUser &user) {
  users_.emplace(stream, &user);
  if (auto early = early_.extract(stream))
    for (const EarlyMulticast &frame : early.mapped())
      user.onMulticast(frame.root, frame.run, frame.multicast, frame.bytes);
  if (auto early = earlyTerms_.extract(stream))
    for (const auto &[from, terms] : early.mapped())
      user.onTerms(from, terms);
}

void RemoteWorker::removeUser(StreamId stream, StreamUser &user) {
  auto [first, last] = users_.equal_range(stream);
  for (auto at = first; at != last; ++at)
    if (at->second == &user) {
      users_.erase(at);
      break;
    }
  std::erase(multicasting_, &user);
}

void RemoteWorker::moveMulticasts(StreamUser &user, bool hasMulticasts) {
  std::erase(multicasting_, &user);
  if (hasMulticasts)
    multicasting_.push_back(&user);
}

bool RemoteWorker::isOverHere(const Tag &tag) const {
  if (runs_)
    return runs_->isOverHere(tag);
  if (auto user = users_.find(streamOf(tag)); user != users_.end()) {
    ProbeBody body = {};
    return user->second->progressOf(self_, tag, body) == network::Progress::Past;
  }
  auto opened = opened_.find(tag.context);
  return opened != opened_.end() && static_cast<int32_t>(tag.stream - opened->second) < 0;
}

void RemoteWorker::closeStream(StreamId stream) {
  failedStreams_.erase(stream);
  earlyTerms_.erase(stream);
  for (Connection *at : connections_)
    at->multicastsBeforeClose.erase(stream);
}

uint64_t RemoteWorker::numMulticastsBeforeClose(Rank peer, StreamId stream) const {
  const auto &at = static_cast<const Connection &>(*am_->peers().find(peer)->second->state);
  auto multicasts = at.multicastsBeforeClose.find(stream);
  return multicasts == at.multicastsBeforeClose.end() ? 0 : multicasts->second;
}

void RemoteWorker::onFrame(Peer &peer, const Header &header, std::span<const std::byte> body) {
  Connection &from = connectionOf(peer);
  RemoteSender &sender = from.sends.wire();
  RemoteReceiver &receiver = from.receives.wire();
  switch (header.kind) {
  case Kind::Eager:
    return context_.isDiscarded(header.tag) ? am_->consume(peer, body.size())
                                            : receiver.onEager(header.tag, body);
  case Kind::Rts:
    return receiver.onRts(header, body);
  case Kind::Rtr:
    return sender.onRtr(header, body);
  case Kind::Ready:
    return sender.onReady(header.tag);
  case Kind::Notify:
    return onNotify(from, header);
  case Kind::Fragment:
    return receiver.onFragment(header.rendezvous, body);
  case Kind::Fin:
    return sender.onFin(header.rendezvous);
  case Kind::Terms:
    return onTerms(peer.rank, header.tag, body);
  case Kind::CloseStream:
    if (auto close = bodyOf<network::CloseBody>(body); close && close->multicasts != 0)
      from.multicastsBeforeClose[streamOf(header.tag)] = close->multicasts;
    sender.onStreamClosed(streamOf(header.tag));
    return receiver.onStreamClosed(streamOf(header.tag));
  case Kind::Cancel:
    receiver.onCancel(header.tag);
    return drain(from, header.tag);
  case Kind::CancelAck:
    sender.onCancelAck(header.tag);
    return receiver.onCancelAck(header.tag);
  case Kind::Probe:
    if (auto probe = bodyOf<ProbeBody>(body))
      onProbe(peer, header, *probe);
    return;
  case Kind::ProbeReply:
    if (auto probe = bodyOf<ProbeBody>(body))
      onProbeReply(from, header, *probe);
    return;
  case Kind::Failed:
    return onFailed(header.tag, body);
  case Kind::Credit:
  case Kind::Multicast: // comes by multicast alone
    return;
  case Kind::Group:
    if (network::Multicast *multicast = transport_->multicast())
      multicast->onMessage(peer, body);
    return;
  case Kind::Disconnect:
    peer.hasDisconnected = true;
    if (!peer.wasSentDisconnect) // else that is its answer
      am_->send(peer, {.kind = Kind::DisconnectAck}, std::span<const std::byte>());
    return;
  case Kind::DisconnectAck:
    peer.acknowledgedDisconnect = true;
    return;
  }
}

void RemoteWorker::sendTerms(Rank to, StreamId stream, std::string_view terms) {
  am_->send(connection(to).peer, {.tag = tagOf(stream, kAllRuns), .kind = Kind::Terms},
            std::as_bytes(std::span(terms)));
}

// Keeps nothing for a stream that is over here.
void RemoteWorker::onTerms(Rank from, const Tag &tag, std::span<const std::byte> body) {
  std::string_view terms(reinterpret_cast<const char *>(body.data()), body.size());
  auto [first, last] = users_.equal_range(streamOf(tag));
  if (first == last && !isOverHere(tag))
    earlyTerms_[streamOf(tag)].emplace_back(from, terms);
  for (auto at = first; at != last; ++at)
    at->second->onTerms(from, terms);
}

void RemoteWorker::probe(Rank to, const Tag &tag, bool sends) {
  am_->send(connection(to).peer, {.tag = tag, .kind = Kind::Probe}, ProbeBody{.sends = sends});
}

// A rendezvous is named by a receiver that has read slowly: if this rank had cancelled the message,
// its Cancel came there before the answer.
void RemoteWorker::onProbe(Peer &from, const Header &header, ProbeBody body) {
  if (header.rendezvous == 0) {
    auto [first, last] = users_.equal_range(streamOf(header.tag));
    for (auto at = first; at != last && body.progress == network::Progress::NotYet; ++at)
      body.progress = at->second->progressOf(from.rank, header.tag, body);
    if (runs_ && body.progress == network::Progress::NotYet && runs_->isOverHere(header.tag))
      body.progress = network::Progress::Past;
    RemoteSender &sender = connectionOf(from).sends.wire();
    body.isPut = !body.sends && sender.hasPut(header.tag);
    if (!body.isPut && body.progress != network::Progress::NotYet)
      sender.dropEarlyRtr(header.tag);
  }
  am_->send(from, {.tag = header.tag, .rendezvous = header.rendezvous, .kind = Kind::ProbeReply},
            body);
  bool isUnwanted = body.sends && body.progress != network::Progress::NotYet;
  if (header.rendezvous == 0 && isUnwanted) // behind the answer: its sender knows
    connectionOf(from).receives.refuse(header.tag);
}

void RemoteWorker::onProbeReply(Connection &from, const Header &header, const ProbeBody &body) {
  if (header.rendezvous != 0)
    return from.receives.wire().onConfirmed(header.rendezvous);
  auto [first, last] = users_.equal_range(streamOf(header.tag));
  for (auto at = first; at != last; ++at)
    at->second->onProbeReply(from.peer.rank, header.tag, body);
}

void RemoteWorker::onRmaDone(network::RmaOperation &rma) {
  auto &done = static_cast<RemoteRma &>(rma);
  done.owner->onRmaDone(done.id);
  if (!draining_.empty())
    sendCancelAcks();
}

void RemoteWorker::onRemoteWrite(uint32_t rtrId) {
  RtrTable::Entry rtr = context_.rtrs.take(rtrId);
  if (rtr.receiver)
    rtr.receiver->onPut(rtr);
}

// Without a guard another thread may not progress the worker: the peer waits until the owner does.
void RemoteWorker::onNeglected() {
  if (!guard_)
    return;
  auto held = lockIf(guard_);
  if (am_)
    progress();
}

std::optional<network::Multicast::Group> RemoteWorker::groupOf(const std::vector<Rank> &members) {
  if (auto known = groups_.find(members); known != groups_.end())
    return known->second;
  std::vector<Peer *> peers;
  for (Rank member : members)
    peers.push_back(&connection(member).peer);
  Result<network::Multicast::Group> made = transport_->multicast()->found(peers);
  auto group = made ? std::optional(*made) : std::nullopt;
  groups_.emplace(members, group);
  return group;
}

// A frame of a stream that is closed here, or discarded, is dropped.
void RemoteWorker::onMulticast(Peer &root, std::span<const std::byte> frame) {
  struct {
    Header header;
    network::MulticastBody multicast;
  } head;
  if (frame.size() < sizeof head)
    return;
  std::memcpy(&head, frame.data(), sizeof head);
  std::span<const std::byte> bytes = frame.subspan(sizeof head);
  if (head.header.kind != Kind::Multicast ||
      head.header.bodyBytes != static_cast<uint16_t>(frame.size() - sizeof head.header))
    return;
  auto user = users_.find(streamOf(head.header.tag));
  if (user != users_.end() && !context_.isDiscarded(head.header.tag))
    return user->second->onMulticast(root.rank, head.header.tag, head.multicast, bytes);
  if (user == users_.end() && !isOverHere(head.header.tag))
    early_[streamOf(head.header.tag)].push_back(
        {root.rank, head.header.tag, head.multicast, {bytes.begin(), bytes.end()}});
  else if (head.multicast.kind == Kind::Eager)
    am_->consume(root, bytes.size());
}

uint64_t RemoteWorker::numRefused() const {
  return am_->numRefused() + (monitor_ ? monitor_->numRefused() : 0);
}

size_t RemoteWorker::numOpen() const {
  size_t open = draining_.size();
  for (Connection *at : connections_)
    open += at->sends.isBusy() + at->receives.numOpen() + at->receives.wire().numDeferred();
  return open;
}

size_t RemoteWorker::numIdsInUse() const {
  size_t inUse = 0;
  for (Connection *at : connections_)
    inUse += at->sends.wire().numIdsInUse();
  return inUse;
}

void RemoteWorker::sendFor(Peer &to, std::span<const std::byte> bytes) {
  am_->send(to, {.kind = Kind::Group}, bytes);
}

// The header of an answer has a `rendezvous` that is not 0.
void RemoteWorker::onNotify(Connection &from, const Header &header) {
  if (header.rendezvous != 0)
    from.receives.wire().onNoNotice(header.tag);
  else if (!from.sends.wire().onNotify(header.tag))
    am_->send(from.peer, {.tag = header.tag, .rendezvous = 1, .kind = Kind::Notify},
              std::span<const std::byte>());
}

std::optional<network::Transport::Wait> RemoteWorker::wakeup() {
  bool naps = context_.suspendWatches();
  std::optional<network::Transport::Wait> wait = transport_->ifIdle();
  if (wait && naps)
    wait->atMost = std::min(wait->atMost, kCanaryNap);
  return wait;
}

void RemoteWorker::sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) {
  std::optional<network::Transport::Wait> wait;
  {
    auto held = lockIf(guard_);
    wait = wakeup();
  }
  if (!wait)
    return;
  atMost = std::min(atMost, wait->atMost);
  if (atMost <= std::chrono::nanoseconds::zero())
    return std::this_thread::yield();
  pollfd files[] = {{waker_, POLLIN, 0}, {wait->file, POLLIN, 0}};
  timespec limit = {0, static_cast<long>(std::clamp<int64_t>(atMost.count(), 0, 999999999))};
  {
    std::lock_guard lock(sleepMutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
  }
  if (wakes_.load(std::memory_order_seq_cst) == epoch)
    ppoll(files, 2, &limit, nullptr);
  // The waker is emptied only while no thread sleeps: one that comes later sees that there was a
  // wake.
  std::lock_guard lock(sleepMutex_);
  uint64_t count;
  if (sleepers_.fetch_sub(1, std::memory_order_relaxed) == 1)
    (void)!read(waker_, &count, sizeof count);
}

void RemoteWorker::wake() {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  uint64_t one = 1;
  if (sleepers_.load(std::memory_order_seq_cst) != 0)
    (void)!write(waker_, &one, sizeof one);
}

} // namespace colldsl::protocol
