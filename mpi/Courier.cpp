#include "mpi/Courier.h"

#include "mpi/MpiCarrier.h"
#include "mpi/Nodes.h"
#include "mpi/Real.h"
#include "transports/network/Failures.h"
#include "wireup/OobBootstrap.h"

#include <algorithm>
#include <thread>

namespace colldsl::mpi {
namespace {

using network::Access;
using network::FailureBody;
using network::Header;
using network::Kind;
using network::Peer;

// Of what a peer said before it left.
constexpr int kMostPolls = 1000;

// What a letter may have: an exchange of small messages then takes one way each.
constexpr uint32_t kEagerBytes = 40 << 10;
// A network that is slow then has something to do while this rank has.
constexpr uint32_t kFragments = 32;
constexpr uint32_t kPlaceBits = 20;

} // namespace

Result<std::unique_ptr<Courier>> Courier::overNetwork(MPI_Comm world, Haste haste) {
  Oob oob = oobOf(world);
  Result<OnNetwork> network = openNetwork(oob, haste);
  if (!network)
    return network.status();
  OobBootstrap bootstrap(oob);
  std::unique_ptr<Courier> courier(new Courier(world, Rank{oob.rank}, network.take()));
  if (Status s = courier->start(bootstrap, oob.numRanks); !s)
    return s;
  return courier;
}

// The communicator keeps strangers away, and its ranks are all that one has to know.
std::unique_ptr<Courier> Courier::overMpi(MPI_Comm world) {
  std::unique_ptr<Courier> courier(
      new Courier(world, Rank{oobOf(world).rank}, {std::make_unique<MpiCarrier>(world), {}}));
  Status started = courier->startMail(0, [](Rank) { return network::Card(); });
  if (courier->status_)
    courier->status_ = started;
  return courier;
}

Courier::Courier(MPI_Comm world, Rank self, OnNetwork network)
    : self_(self), options_(network.options), carrier_(std::move(network.carrier)) {
  options_.fragments = kFragments;
  options_.eagerBytes =
      std::min(kEagerBytes, carrier_->powers().frameBytes - static_cast<uint32_t>(sizeof(Header)));
  isFine(real::Comm_dup(world, &comm_), "MPI_Comm_dup");
  isFine(real::Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

// Whoever cannot come says so, for the others wait.
Status Courier::start(Bootstrap &bootstrap, uint32_t numRanks) {
  Result<network::Presence> presence = network::appear(*carrier_, self_, options_);
  if (!presence) {
    network::missCards(bootstrap, numRanks, presence.message());
    return presence.status();
  }
  watch_ = std::move(presence->watch);
  Result<network::Directory> directory = network::showCards(bootstrap, presence->card, numRanks);
  if (!directory)
    return directory.status();
  return startMail(presence->card.token, directory.take());
}

Status Courier::startMail(uint64_t token, network::Directory directory) {
  MailReader &reader = *this;
  directory_ = std::move(directory);
  mail_.emplace(*carrier_, reader, self_, token, options_);
  return mail_->start(directory_);
}

Courier::~Courier() {
  for (Outgoing &outgoing : outgoing_)
    outgoing.region.reset();
  for (Incoming &incoming : incoming_)
    incoming.region.reset();
  carrier_->stop();
  real::Comm_free(&comm_);
}

// The first failure counts.
bool Courier::isFine(int code, const char *function) {
  if (status_ && code != MPI_SUCCESS)
    status_ = mpiStatus(code, function);
  return code == MPI_SUCCESS;
}

// What was promised is gone before the barrier.
void Courier::leave() {
  isLeaving_ = true;
  while (status_ && isBusy())
    poll();
  MPI_Request all = MPI_REQUEST_NULL;
  int isThere = !status_ || !isFine(real::Ibarrier(comm_, &all), "MPI_Ibarrier");
  while (!isThere) {
    poll();
    isThere = !isFine(real::Test(&all, &isThere, MPI_STATUS_IGNORE), "MPI_Test") || isThere;
  }
}

// Null: it cannot be reached, of which all are told.
Peer *Courier::peer(Rank rank) {
  Result<Peer *> peer = mail_->peer(rank);
  if (!peer) {
    fail({rank, kNoOp, peer.message()});
    return nullptr;
  }
  return *peer;
}

void Courier::meet(Rank rank) {
  if (!watch_ || rank == self_)
    return;
  if (Result<network::Card> card = directory_(rank))
    watch_->add(rank, *card);
}

bool Courier::isBusy() const { return !mail_->isIdle() || !leaving_.empty() || numOutgoing_ != 0; }

void Courier::write(Rank to, std::span<const std::byte> header, const Payload &payload,
                    Message *message) {
  Peer *peer = this->peer(to);
  if (!peer)
    return;
  pieces_.assign(1, {const_cast<std::byte *>(header.data()), header.size()});
  pieces_.insert(pieces_.end(), payload.pieces, payload.pieces + payload.count);
  uint64_t bytes = header.size() + payload.bytes;
  mail_->sayPart(*peer, {.kind = Kind::Eager},
                 {pieces_.data(), static_cast<uint32_t>(pieces_.size()), true, false, bytes}, 0,
                 static_cast<uint32_t>(bytes));
  if (!message)
    return;
  if (peer->open == 0 && peer->waiting.empty())
    message->complete();
  else
    leaving_.push_back({peer, message});
}

// The network may have kept what it took.
void Courier::finishLeaving() {
  std::erase_if(leaving_, [](const Leaving &leaving) {
    bool isGone = leaving.peer->open == 0 && leaving.peer->waiting.empty();
    if (isGone && leaving.message)
      leaving.message->complete();
    return isGone;
  });
}

bool Courier::canWrite(const Payload &payload) const {
  const network::Powers &powers = carrier_->powers();
  return powers.moves && payload.count <= (powers.local ? 1 : powers.pieces);
}

Courier::Incoming &Courier::freshIncoming() {
  auto at = std::find_if(incoming_.begin(), incoming_.end(),
                         [](const Incoming &incoming) { return !incoming.isUsed; });
  if (at == incoming_.end()) {
    at = incoming_.emplace(at);
    at->place = static_cast<uint32_t>(at - incoming_.begin());
  }
  at->isUsed = true;
  at->here = 0;
  ++at->use;
  return *at;
}

uint32_t Courier::numberOf(const Incoming &incoming) const {
  return incoming.place | incoming.use << kPlaceBits;
}

Courier::Place Courier::expect(Rank from, Message &message) {
  Incoming &incoming = freshIncoming();
  incoming.message = &message;
  incoming.peer = peer(from);
  incoming.bytes = message.transferred;
  Place place{.number = numberOf(incoming)};
  if (!carrier_->powers().moves || message.payload.count != 1)
    return place;
  void *begin = message.payload.pieces[0].iov_base;
  Result<network::Region> region =
      carrier_->know({begin, message.transferred}, Access::RemoteWrite);
  if (!region)
    return place;
  incoming.region = region.take();
  place.address = carrier_->named(begin, begin);
  place.key = incoming.region.key();
  place.isWritable = 1;
  return place;
}

// Comes from a peer: it may name anything.
Courier::Incoming *Courier::incoming(uint32_t number) {
  uint32_t place = number & ((1u << kPlaceBits) - 1);
  if (place >= incoming_.size() || !incoming_[place].isUsed)
    return nullptr;
  return numberOf(incoming_[place]) == number ? &incoming_[place] : nullptr;
}

Courier::Incoming *Courier::incomingAt(uint64_t key) {
  auto found = std::ranges::find_if(incoming_, [&](const Incoming &incoming) {
    return incoming.region && incoming.region.key() == key;
  });
  return found == incoming_.end() ? nullptr : &*found;
}

void Courier::expectNoMore(Rank from, const Place &place) {
  if (Incoming *found = incoming(place.number); found && found->peer && found->peer->rank == from)
    release(*found);
}

void Courier::release(Incoming &incoming) {
  incoming.region.reset();
  incoming.message = nullptr;
  incoming.isUsed = false;
}

void Courier::arrived(Incoming &incoming) {
  Message *message = incoming.message;
  uint32_t number = numberOf(incoming);
  release(incoming);
  reader_->arrived(incoming.peer->rank, number, message);
}

void Courier::onWritten(uint32_t ticket) {
  if (Incoming *found = carrier_->powers().ticketIsKey ? incomingAt(ticket) : incoming(ticket))
    arrived(*found);
}

void Courier::onFragment(const Peer &from, uint32_t number, std::span<const std::byte> bytes) {
  Incoming *found = incoming(number);
  if (!found || found->peer != &from || bytes.size() > found->bytes - found->here)
    return;
  if (found->message)
    scatter(found->message->payload, found->here, bytes.data(), bytes.size());
  found->here += bytes.size();
  if (found->here == found->bytes)
    arrived(*found);
}

Courier::Outgoing &Courier::freshOutgoing() {
  auto isFree = [](const Outgoing &outgoing) { return !outgoing.message && !outgoing.isOpen; };
  auto at = std::find_if(outgoing_.begin(), outgoing_.end(), isFree);
  return at == outgoing_.end() ? outgoing_.emplace_back() : *at;
}

void Courier::give(Rank to, Message &message, const Place &place) {
  Outgoing &outgoing = freshOutgoing();
  outgoing.peer = peer(to);
  if (!outgoing.peer)
    return;
  outgoing.message = &message;
  outgoing.place = place;
  outgoing.region.reset();
  outgoing.gone = 0;
  outgoing.isMoving = false;
  ++numOutgoing_;
  move(outgoing);
}

// True: something moved.
bool Courier::move(Outgoing &outgoing) {
  if (!outgoing.message || outgoing.isMoving || outgoing.peer->isLost)
    return false;
  return outgoing.place.isWritable && canWrite(outgoing.message->payload) ? write(outgoing)
                                                                          : stream(outgoing);
}

bool Courier::write(Outgoing &outgoing) {
  const Payload &payload = outgoing.message->payload;
  network::MoveSpec spec;
  if (carrier_->powers().local && !outgoing.region) {
    Result<network::Region> region = carrier_->know(payload.pieces[0], Access::Write);
    if (!region) {
      fail({self_, kNoOp, region.message(), ErrorKind::NoMemory});
      return false;
    }
    outgoing.region = region.take();
  }
  spec.count = payload.count;
  std::copy_n(payload.pieces, payload.count, spec.pieces);
  spec.descriptors[0] = outgoing.region.descriptor();
  spec.address = outgoing.place.address;
  spec.key = outgoing.place.key;
  spec.bytes = payload.bytes;
  spec.ticket = outgoing.place.number;
  outgoing.isMoving = mail_->move(outgoing, spec, true);
  return outgoing.isMoving;
}

bool Courier::stream(Outgoing &outgoing) {
  const Payload &payload = outgoing.message->payload;
  Peer &to = *outgoing.peer;
  uint64_t before = outgoing.gone;
  while (outgoing.gone < payload.bytes && to.longInFlight < options_.fragments &&
         to.waiting.empty() && !to.isLost) {
    auto bytes = static_cast<uint32_t>(
        std::min<uint64_t>(options_.eagerBytes, payload.bytes - outgoing.gone));
    mail_->sayPart(to, {.message = outgoing.place.number, .kind = Kind::Fragment}, payload,
                   outgoing.gone, bytes);
    outgoing.gone += bytes;
  }
  bool moved = outgoing.gone != before;
  if (outgoing.gone == payload.bytes)
    gone(outgoing);
  return moved;
}

void Courier::gone(Outgoing &outgoing) {
  outgoing.region.reset();
  Message *message = std::exchange(outgoing.message, nullptr);
  if (!message)
    return;
  --numOutgoing_;
  if (outgoing.isMoving)
    message->complete();
  else
    leaving_.push_back({outgoing.peer, message});
}

void Courier::onMoved(network::Move &move) { gone(static_cast<Outgoing &>(move)); }

// Once something failed memory is given back that peers may be writing just now.
bool Courier::poll() {
  if (!status_) {
    look();
    return false;
  }
  bool moved = mail_->poll();
  if (numOutgoing_ != 0)
    for (Outgoing &outgoing : outgoing_)
      moved |= move(outgoing);
  if (!leaving_.empty())
    finishLeaving();
  if (!moved && !isLeaving_)
    look();
  return moved;
}

std::optional<protocol::Wakeup> Courier::wakeup() {
  std::optional<network::Carrier::Wait> wait = carrier_->ifIdle();
  if (!wait)
    return std::nullopt;
  return protocol::Wakeup{wait->file, wait->atMost};
}

void Courier::onFrame(Peer &from, const Header &header, std::span<const std::byte> body) {
  switch (header.kind) {
  case Kind::Eager:
    return reader_->read(from.rank, body);
  case Kind::Fragment:
    return onFragment(from, header.message, body);
  case Kind::Request:
  case Kind::Place:
  case Kind::Read:
  case Kind::Closed:
  case Kind::Drained:
  case Kind::HowFar:
  case Kind::SoFar:
  case Kind::Credit:
  case Kind::Failed:
  case Kind::Goodbye:
  case Kind::Farewell:
  case Kind::Cast:
  case Kind::Group:
    return; // nobody says so here
  }
}

// Whether it died is found by the next look.
void Courier::onLost(Peer &peer, const std::string &reason) {
  lost_.push_back({peer.rank, reason});
  nextLook_ = {};
}

void Courier::onBroken(const std::string &reason) {
  fail({self_, kNoOp, "rank " + std::to_string(index(self_)) + " " + reason});
}

// What a rank said before it died may be taken first. After a failure newcomers are told of it, and
// no more.
void Courier::look() {
  Clock::time_point now = Clock::now();
  if (now < nextLook_)
    return;
  nextLook_ = now + options_.watchInterval;
  gone_.clear();
  if (watch_)
    watch_->look(gone_);
  if (!status_)
    return;
  for (int i = 0; i < kMostPolls && !gone_.empty() && mail_->poll(); ++i) {
  }
  for (const network::Watch::News &news : gone_)
    fail(faultOf(news, self_));
  for (const auto &[rank, reason] : std::exchange(lost_, {})) {
    if (watch_)
      watch_->giveUp(rank);
    fail({rank, kNoOp, "rank " + std::to_string(index(rank)) + " cannot be reached: " + reason});
  }
}

// The MPI goes on.
void Courier::tellFailure(const Fault &fault) {
  if (watch_)
    fail(fault);
}

// The first failure counts.
void Courier::fail(const Fault &fault) {
  if (!status_)
    return;
  status_ = Status::error(fault.kind, fault.reason);
  if (watch_)
    watch_->tell(network::failureBody(FailureBody::kEveryPlan, kNoRank, fault));
}

// What a peer writes, or the network reads, cannot be called back: a peer that was invited answers
// the recall when it looks, uses the invitation, or dies. What comes in parts is thrown away.
void Courier::forget(const protocol::CompletionCounter &tally) {
  auto isOurs = [&](const Message *message) { return message && message->counter == &tally; };
  auto isRead = [&](const Outgoing &outgoing) { return isOurs(outgoing.message); };
  auto isWritten = [&](const Incoming &incoming) {
    return isOurs(incoming.message) && incoming.region;
  };
  while (status_ && (std::any_of(outgoing_.begin(), outgoing_.end(), isRead) ||
                     std::any_of(incoming_.begin(), incoming_.end(), isWritten)))
    if (!poll()) {
      moveOthers_();
      std::this_thread::yield();
    }
  for (Outgoing &outgoing : outgoing_)
    if (isRead(outgoing)) {
      outgoing.message = nullptr;
      --numOutgoing_;
    }
  for (Incoming &incoming : incoming_)
    if (isOurs(incoming.message)) {
      incoming.region.reset();
      incoming.message = nullptr;
    }
  for (Leaving &leaving : leaving_)
    if (isOurs(leaving.message))
      leaving.message = nullptr;
}

} // namespace colldsl::mpi
