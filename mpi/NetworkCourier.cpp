#include "mpi/NetworkCourier.h"

#include "mpi/Nodes.h"
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

Result<std::unique_ptr<Courier>> NetworkCourier::make(MPI_Comm world, Haste haste) {
  Oob oob = oobOf(world);
  Result<OnNetwork> network = openNetwork(oob, haste);
  if (!network)
    return network.status();
  OobBootstrap bootstrap(oob);
  std::unique_ptr<NetworkCourier> courier(
      new NetworkCourier(world, Rank{oob.rank}, network.take()));
  if (Status s = courier->start(bootstrap, oob.numRanks); !s)
    return s;
  return std::unique_ptr<Courier>(std::move(courier));
}

NetworkCourier::NetworkCourier(MPI_Comm world, Rank self, OnNetwork network)
    : Courier(world), self_(self), options_(network.options), carrier_(std::move(network.carrier)) {
  options_.fragments = kFragments;
  options_.eagerBytes =
      std::min(kEagerBytes, carrier_->powers().frameBytes - static_cast<uint32_t>(sizeof(Header)));
}

// Whoever cannot come says so, for the others wait.
Status NetworkCourier::start(Bootstrap &bootstrap, uint32_t numRanks) {
  Result<network::Presence> presence = network::appear(*carrier_, self_, options_);
  if (!presence) {
    network::missCards(bootstrap, numRanks, presence.message());
    return presence.status();
  }
  watch_ = std::move(presence->watch);
  card_ = presence->card;
  MailReader &reader = *this;
  mail_.emplace(*carrier_, reader, self_, card_.token, options_);
  Result<network::Directory> directory = network::showCards(bootstrap, card_, numRanks);
  if (!directory)
    return directory.status();
  directory_ = directory.take();
  return mail_->start(directory_);
}

NetworkCourier::~NetworkCourier() {
  for (Outgoing &outgoing : outgoing_)
    outgoing.region.reset();
  for (Incoming &incoming : incoming_)
    incoming.region.reset();
  carrier_->stop();
}

// Null: it cannot be reached, of which all are told.
Peer *NetworkCourier::peer(Rank rank) {
  Result<Peer *> peer = mail_->peer(rank);
  if (!peer) {
    fail({rank, kNoOp, peer.message()});
    return nullptr;
  }
  return *peer;
}

void NetworkCourier::meet(Rank rank) {
  if (Result<network::Card> card = directory_(rank); card && rank != self_)
    watch_->add(rank, *card);
}

bool NetworkCourier::isBusy() const {
  return !mail_->isIdle() || !leaving_.empty() || numOutgoing_ != 0;
}

void NetworkCourier::write(Rank to, std::span<const std::byte> header, const Payload &payload,
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
void NetworkCourier::finishLeaving() {
  std::erase_if(leaving_, [](const Leaving &leaving) {
    bool isGone = leaving.peer->open == 0 && leaving.peer->waiting.empty();
    if (isGone && leaving.message)
      leaving.message->complete();
    return isGone;
  });
}

bool NetworkCourier::canWrite(const Payload &payload) const {
  const network::Powers &powers = carrier_->powers();
  return powers.moves && payload.count <= (powers.local ? 1 : powers.pieces);
}

NetworkCourier::Incoming &NetworkCourier::freshIncoming() {
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

uint32_t NetworkCourier::numberOf(const Incoming &incoming) const {
  return incoming.place | incoming.use << kPlaceBits;
}

std::optional<Courier::Place> NetworkCourier::expect(Rank from, Message &message) {
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
NetworkCourier::Incoming *NetworkCourier::incoming(uint32_t number) {
  uint32_t place = number & ((1u << kPlaceBits) - 1);
  if (place >= incoming_.size() || !incoming_[place].isUsed)
    return nullptr;
  return numberOf(incoming_[place]) == number ? &incoming_[place] : nullptr;
}

void NetworkCourier::expectNoMore(Rank from, const Place &place) {
  if (Incoming *found = incoming(place.number); found && found->peer && found->peer->rank == from)
    release(*found);
}

void NetworkCourier::release(Incoming &incoming) {
  incoming.region.reset();
  incoming.message = nullptr;
  incoming.isUsed = false;
}

void NetworkCourier::arrived(Incoming &incoming) {
  Message *message = incoming.message;
  uint32_t number = numberOf(incoming);
  release(incoming);
  reader_->arrived(incoming.peer->rank, number, message);
}

void NetworkCourier::onWritten(uint32_t ticket) {
  if (Incoming *found = incoming(ticket))
    arrived(*found);
}

void NetworkCourier::onFragment(const Peer &from, uint32_t number,
                                std::span<const std::byte> bytes) {
  Incoming *found = incoming(number);
  if (!found || found->peer != &from || bytes.size() > found->bytes - found->here)
    return;
  if (found->message)
    scatter(found->message->payload, found->here, bytes.data(), bytes.size());
  found->here += bytes.size();
  if (found->here == found->bytes)
    arrived(*found);
}

NetworkCourier::Outgoing &NetworkCourier::freshOutgoing() {
  auto isFree = [](const Outgoing &outgoing) { return !outgoing.message && !outgoing.isOpen; };
  auto at = std::find_if(outgoing_.begin(), outgoing_.end(), isFree);
  return at == outgoing_.end() ? outgoing_.emplace_back() : *at;
}

void NetworkCourier::give(Rank to, Message &message, const Place &place) {
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
bool NetworkCourier::move(Outgoing &outgoing) {
  if (!outgoing.message || outgoing.isMoving || outgoing.peer->isLost)
    return false;
  return outgoing.place.isWritable && canWrite(outgoing.message->payload) ? write(outgoing)
                                                                          : stream(outgoing);
}

bool NetworkCourier::write(Outgoing &outgoing) {
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

bool NetworkCourier::stream(Outgoing &outgoing) {
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

void NetworkCourier::gone(Outgoing &outgoing) {
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

void NetworkCourier::onMoved(network::Move &move) { gone(static_cast<Outgoing &>(move)); }

// Once something failed memory is given back that peers may be writing just now.
bool NetworkCourier::poll() {
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

std::optional<protocol::Wakeup> NetworkCourier::wakeup() {
  std::optional<network::Carrier::Wait> wait = carrier_->ifIdle();
  if (!wait)
    return std::nullopt;
  return protocol::Wakeup{wait->file, wait->atMost};
}

void NetworkCourier::onFrame(Peer &from, const Header &header, std::span<const std::byte> body) {
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
void NetworkCourier::onLost(Peer &peer, const std::string &reason) {
  lost_.push_back({peer.rank, reason});
  nextLook_ = {};
}

void NetworkCourier::onBroken(const std::string &reason) {
  fail({self_, kNoOp, "rank " + std::to_string(index(self_)) + " " + reason});
}

// What a rank said before it died may be taken first. After a failure newcomers are told of it, and
// no more.
void NetworkCourier::look() {
  Clock::time_point now = Clock::now();
  if (now < nextLook_)
    return;
  nextLook_ = now + options_.watchInterval;
  gone_.clear();
  watch_->look(gone_);
  if (!status_)
    return;
  for (int i = 0; i < kMostPolls && !gone_.empty() && mail_->poll(); ++i) {
  }
  for (const network::Watch::News &news : gone_)
    fail(faultOf(news, self_));
  for (const auto &[rank, reason] : std::exchange(lost_, {})) {
    watch_->giveUp(rank);
    fail({rank, kNoOp, "rank " + std::to_string(index(rank)) + " cannot be reached: " + reason});
  }
}

// The first failure counts.
void NetworkCourier::fail(const Fault &fault) {
  if (!status_)
    return;
  status_ = Status::error(fault.kind, fault.reason);
  watch_->tell(network::failureBody(FailureBody::kEveryPlan, kNoRank, fault));
}

// What a peer writes, or the network reads, cannot be called back: a peer that was invited answers
// the recall when it looks, uses the invitation, or dies. What comes in parts is thrown away.
void NetworkCourier::forget(const protocol::CompletionCounter &tally) {
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
