#include "transports/network/NetworkChannels.h"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace colldsl::network {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kTicketBits = 20;

} // namespace

NetworkEndpoint::NetworkEndpoint(Rank self, uint32_t numRanks, const Options &options,
                                 std::unique_ptr<Carrier> carrier)
    : self_(self), numRanks_(numRanks), options_(options), carrier_(std::move(carrier)) {}

Result<std::unique_ptr<NetworkEndpoint>> NetworkEndpoint::make(Rank self, uint32_t numRanks,
                                                               const Options &options,
                                                               std::unique_ptr<Carrier> carrier) {
  std::unique_ptr<NetworkEndpoint> endpoint(
      new NetworkEndpoint(self, numRanks, options, std::move(carrier)));
  if (Status s = endpoint->openAll(); !s)
    return s;
  return endpoint;
}

Status NetworkEndpoint::openAll() {
  if (options_.eagerBytes > kMostEagerBytes)
    return Status::error("eager messages have at most " + std::to_string(kMostEagerBytes) +
                         " bytes");
  options_.directBytes = std::min(options_.directBytes, options_.eagerBytes);
  if (options_.receives == 0 || options_.fragments == 0)
    return Status::error("a rank needs receives and fragments");
  Result<Presence> presence = appear(*carrier_, self_, options_);
  if (!presence)
    return presence.status();
  card_ = presence->card;
  watch_ = std::move(presence->watch);
  waker_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  caps_.name = carrier_->powers().name;
  caps_.maxInlineBytes = static_cast<uint32_t>(
      std::max(carrier_->powers().injectBytes, sizeof(Header)) - sizeof(Header));
  caps_.eagerBytes = options_.eagerBytes;
  caps_.canRead = carrier_->powers().moves;
  caps_.opensAlone = true;
  caps_.gathers = carrier_->powers().gathers;
  caps_.patience.looks = options_.spinPolls;
  return {};
}

Status NetworkEndpoint::meet(Directory directory) {
  std::lock_guard lock(mutex_);
  directory_ = std::move(directory);
  MailReader &reader = *this;
  mail_.emplace(*carrier_, reader, self_, card_.token, options_);
  if (Multicast *multicast = carrier_->multicast())
    multicast->readBy(*this);
  return mail_->start(directory_);
}

Status NetworkEndpoint::meet(Bootstrap &bootstrap) {
  Result<Directory> directory = showCards(bootstrap, card_, numRanks_);
  return directory ? meet(directory.take()) : directory.status();
}

std::chrono::nanoseconds NetworkEndpoint::linger() const {
  return allFailed_ ? options_.lingerAfterFailure : options_.linger;
}

// What this rank said must reach its peers though they look later: the wait begins again with each
// frame of it that is taken. Where all has failed they leave, too, and perhaps do not answer.
void NetworkEndpoint::sayGoodbye() {
  std::unique_lock lock(mutex_); // for the carrier's threads
  isLeaving_ = true;
  Header goodbye{.kind = Kind::Goodbye};
  for (auto &[rank, peer] : mail_->peers())
    if (!peer->isSelf && !peer->saidGoodbye) {
      mail_->say(*peer, goodbye, std::span<const std::byte>());
      peer->heardGoodbye = true;
    }
  uint64_t done = mail_->numDone(), said = mail_->numSaid();
  auto deadline = Clock::now() + linger();
  while (!(allSaidFarewell() && isIdle()) && Clock::now() < deadline) {
    bool moved = progress();
    if (done < said && mail_->numDone() > done) {
      done = mail_->numDone();
      deadline = Clock::now() + linger();
    }
    if (moved)
      continue;
    look();
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

void NetworkEndpoint::onNeglected() {
  std::lock_guard lock(mutex_);
  if (mail_)
    progress();
}

bool NetworkEndpoint::isIdle() const {
  Multicast *multicast = carrier_->multicast();
  return mail_->isIdle() && (!multicast || multicast->isIdle());
}

bool NetworkEndpoint::allSaidFarewell() const {
  return std::all_of(mail_->peers().begin(), mail_->peers().end(), [](const auto &entry) {
    const Peer &peer = *entry.second;
    return peer.isSelf || peer.isLost || peer.saidGoodbye || peer.saidFarewell;
  });
}

// The carrier stops using memory before that goes.
NetworkEndpoint::~NetworkEndpoint() {
  if (mail_)
    sayGoodbye();
  for (std::vector<End> &ends : orphans_)
    for (End &end : ends)
      end.region.reset();
  kept_.clear();
  if (isFrozen_)
    carrier_->abandon();
  else
    carrier_->stop();
  if (waker_ >= 0)
    ::close(waker_);
}

Status NetworkEndpoint::checkPeers(std::span<const EdgeSpec> edges) const {
  for (const EdgeSpec &edge : edges)
    if (index(edge.peer) >= numRanks_)
      return Status::error("there is no rank " + std::to_string(index(edge.peer)) + " among " +
                           std::to_string(numRanks_));
  return {};
}

Result<Peer *> NetworkEndpoint::watchedPeer(Rank rank) {
  Result<Peer *> peer = mail_->peer(rank);
  if (peer && !(*peer)->isSelf)
    if (Result<Card> card = directory_(rank))
      watch_->add(rank, *card);
  return peer;
}

Result<std::unique_ptr<Channels>> NetworkEndpoint::open(const OpenRequest &request) {
  std::unique_lock lock(mutex_);
  auto channels = std::make_unique<NetworkChannels>(*this, opened_++);
  plans_[channels->plan_] = channels.get();
  Status own = checkPeers(request.out);
  if (own)
    own = checkPeers(request.in);
  if (own)
    own = channels->connect(request);
  if (auto early = early_.extract(channels->plan_))
    for (const Early &frame : early.mapped())
      if (Result<Peer *> from = mail_->peer(frame.from))
        channels->onFrame(**from, frame.header, frame.body);
  if (hasFailed(channels->plan_))
    channels->sayDrained();
  lock.unlock();
  if (own && request.ready)
    own = request.ready(*channels);
  if (!own) {
    channels->abort({self_, kNoOp, "rank " + std::to_string(index(self_)) + ": " + own.message()});
    return own;
  }
  return std::unique_ptr<Channels>(std::move(channels));
}

void NetworkEndpoint::refuse(const std::string &reason) {
  std::lock_guard lock(mutex_);
  uint32_t plan = opened_++;
  if (auto early = early_.extract(plan))
    for (const Early &frame : early.mapped())
      if (Result<Peer *> from = mail_->peer(frame.from))
        dropOfNoPlan(**from, frame.header, frame.body);
  failed_.erase(plan);
  report(plan, {self_, kNoOp, "rank " + std::to_string(index(self_)) + ": " + reason,
                ErrorKind::Refused});
  progress();
}

void NetworkEndpoint::drop(Peer &from, const Header &header, std::span<const std::byte> body) {
  CastBody cast = {};
  if (header.kind == Kind::Cast) {
    std::memcpy(&cast, body.data(), sizeof cast);
    body = body.subspan(sizeof cast);
  }
  if (header.kind == Kind::Eager || cast.kind == Kind::Eager)
    mail_->consume(from, body.size());
}

void NetworkEndpoint::onFrame(Peer &from, const Header &header, std::span<const std::byte> body) {
  switch (header.kind) {
  case Kind::Eager:
  case Kind::Request:
  case Kind::Place:
  case Kind::Fragment:
  case Kind::Read:
  case Kind::Closed:
  case Kind::Drained:
  case Kind::HowFar:
  case Kind::SoFar:
    return onPlanFrame(from, header, body);
  case Kind::Failed:
    return onFailed(body);
  case Kind::Credit:
  case Kind::Cast: // comes by multicast alone
    return;
  case Kind::Group:
    if (Multicast *multicast = carrier_->multicast())
      multicast->onSaid(from, body);
    return;
  case Kind::Goodbye:
    from.saidGoodbye = true;
    if (!from.heardGoodbye) // else that is its answer
      mail_->say(from, {.kind = Kind::Farewell}, std::span<const std::byte>());
    return;
  case Kind::Farewell:
    from.saidFarewell = true;
    return;
  }
}

void NetworkEndpoint::onPlanFrame(Peer &from, const Header &header,
                                  std::span<const std::byte> body) {
  if (header.kind == Kind::Closed || header.kind == Kind::Drained)
    dropKept(header.plan, from.rank);
  if (auto plan = plans_.find(header.plan); plan != plans_.end())
    plan->second->onFrame(from, header, body);
  else if (static_cast<int32_t>(header.plan - opened_) >= 0)
    early_[header.plan].push_back({from.rank, header, {body.begin(), body.end()}});
  else
    dropOfNoPlan(from, header, body);
}

// Its sender waits, before it closes the plan, for the end of what might be moved.
void NetworkEndpoint::dropOfNoPlan(Peer &from, const Header &header,
                                   std::span<const std::byte> body) {
  drop(from, header, body);
  if (header.kind == Kind::Place || header.kind == Kind::Request)
    mail_->say(from, {.plan = header.plan, .kind = Kind::Drained}, std::span<const std::byte>());
}

void NetworkEndpoint::onMoved(Move &move) {
  auto &end = static_cast<End &>(move);
  if (end.channels)
    end.channels->afterMove(end);
}

uint32_t NetworkEndpoint::ticketFor(End &end) {
  if (freeTickets_.empty()) {
    freeTickets_.push_back(static_cast<uint32_t>(tickets_.size()));
    tickets_.emplace_back();
  }
  uint32_t place = freeTickets_.back();
  freeTickets_.pop_back();
  tickets_[place].end = &end;
  end.ticket = place;
  return place | ++tickets_[place].use << kTicketBits;
}

void NetworkEndpoint::retire(End &end) {
  if (end.ticket == End::kNoTicket)
    return;
  tickets_[end.ticket].end = nullptr;
  freeTickets_.push_back(end.ticket);
  end.ticket = End::kNoTicket;
}

// Comes from a peer: it may name anything.
void NetworkEndpoint::onWritten(uint32_t ticket) {
  uint32_t place = ticket & ((1u << kTicketBits) - 1);
  if (place >= tickets_.size())
    return;
  const Ticket &known = tickets_[place];
  if (!known.end || (known.use << kTicketBits | place) != ticket)
    return;
  End &end = *known.end;
  retire(end);
  end.channels->finish(end);
}

bool NetworkEndpoint::progress() {
  if (isFrozen_)
    return false;
  if (!orphans_.empty())
    dropOrphans();
  bool moved = mail_->poll();
  if (!toMove_.empty())
    moved |= moveAll();
  if (!streaming_.empty())
    moved |= streamAll();
  if (!casting_.empty())
    moved |= castAll();
  return moved;
}

// Some providers write into memory whose registration is gone: nothing may move any more.
void NetworkEndpoint::freeze(Rank writer) {
  std::string name = "rank " + std::to_string(index(writer));
  report(FailureBody::kEveryPlan,
         {writer, kNoOp, name + " may still write for a plan that failed, and does not answer"});
  isFrozen_ = true;
}

bool NetworkEndpoint::moveAll() {
  auto reads = [](const End *end) { return !end->sends; };
  bool isAnyRead = std::any_of(toMove_.begin(), toMove_.end(), reads);
  for (int i = 0; isAnyRead && i < kMostPolls && mail_->poll(); ++i) {
  }
  std::vector<End *> now = std::exchange(toMove_, {});
  for (End *end : now)
    end->channels->move(*end);
  return toMove_.size() < now.size();
}

void NetworkEndpoint::dropOrphans() {
  std::erase_if(orphans_, [](const std::vector<End> &ends) {
    return std::none_of(ends.begin(), ends.end(), [](const End &end) { return end.isOpen; });
  });
}

void NetworkEndpoint::keepUntilClosed(uint32_t plan, Rank reader, Region region) {
  kept_.push_back({plan, reader, std::move(region)});
}

void NetworkEndpoint::dropKept(uint32_t plan, Rank reader) {
  std::erase_if(kept_,
                [&](const Kept &kept) { return kept.plan == plan && kept.reader == reader; });
}

bool NetworkEndpoint::streamAll() {
  size_t before = streaming_.size();
  bool moved = false;
  std::erase_if(streaming_, [&](End *end) {
    uint64_t sent = end->moved;
    bool isOver = stream(*end);
    moved |= end->moved != sent;
    return isOver;
  });
  return moved || streaming_.size() < before;
}

// True: nothing is left of it.
bool NetworkEndpoint::stream(End &end) {
  Peer &to = *end.peer;
  for (uint32_t i = 0; i < options_.fragments && end.moved < end.bytes; ++i) {
    if (to.isLost)
      return true;
    if (to.longInFlight >= options_.fragments || !to.waiting.empty())
      return false;
    auto bytes =
        static_cast<uint32_t>(std::min<uint64_t>(options_.eagerBytes, end.bytes - end.moved));
    if (!mail_->hasFrame(bytes) && mail_->willHaveFrame(bytes))
      return false;
    mail_->sayPart(to, end.channels->headerOf(Kind::Fragment, end), end.payload, end.moved, bytes);
    end.moved += bytes;
  }
  if (end.moved < end.bytes)
    return false;
  end.channels->finish(end);
  return true;
}

void NetworkEndpoint::forget(const End &end) {
  std::erase(toMove_, &end);
  std::erase(streaming_, &end);
}

void NetworkEndpoint::sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) {
  std::optional<Carrier::Wait> news;
  {
    std::lock_guard lock(mutex_);
    news = carrier_->ifIdle();
  }
  if (!news)
    return;
  atMost = std::min(atMost, news->atMost);
  pollfd files[] = {{waker_, POLLIN, 0}, {news->file, POLLIN, 0}};
  timespec limit = {0, static_cast<long>(std::clamp<int64_t>(atMost.count(), 0, 999999999))};
  {
    std::lock_guard lock(sleepMutex_);
    sleepers_.fetch_add(1);
  }
  if (wakes_.load() == ticket)
    ppoll(files, 2, &limit, nullptr);
  // The waker is emptied only while nobody sleeps: who comes later sees that there was a wake.
  std::lock_guard lock(sleepMutex_);
  uint64_t count;
  if (sleepers_.fetch_sub(1) == 1)
    (void)!read(waker_, &count, sizeof count);
}

// Either the sleeper sees that there was a wake, or this sees the sleeper.
void NetworkEndpoint::wake() {
  wakes_.fetch_add(1);
  uint64_t one = 1;
  if (sleepers_.load() != 0)
    (void)!write(waker_, &one, sizeof one);
}

size_t NetworkEndpoint::numPeers() {
  std::lock_guard lock(mutex_);
  return mail_->peers().size();
}

uint64_t NetworkEndpoint::frameBytes() {
  std::lock_guard lock(mutex_);
  return mail_->bytes();
}

uint64_t NetworkEndpoint::numRefused() {
  std::lock_guard lock(mutex_);
  return mail_->numRefused() + watch_->numRefused();
}

} // namespace colldsl::network
