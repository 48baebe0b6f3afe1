#include "transports/shm/OpenPlan.h"
#include "transports/shm/ShmEndpoint.h"

#include <cstring>
#include <map>

namespace colldsl::shm {
namespace {

uint64_t hashOf(std::span<const MessageId> messages) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a over 64-bit words
  for (MessageId m : messages)
    hash = (hash ^ value(m)) * 0x100000001b3u;
  return hash;
}

std::string number(uint64_t messages) {
  return messages == EdgeOffer::kNone ? "none" : std::to_string(messages);
}

Status compareEdge(Rank from, uint64_t sends, uint64_t sendHash, Rank to, uint64_t receives,
                   uint64_t receiveHash) {
  if (sends == receives && (sends == EdgeOffer::kNone || sendHash == receiveHash))
    return {};
  std::string ranks =
      "rank " + std::to_string(index(from)) + " and rank " + std::to_string(index(to));
  if (sends == receives)
    return Status::error(ranks + " disagree on which messages go from one to the other");
  return Status::error(ranks + " disagree: the one sends " + number(sends) +
                       " messages, the other expects " + number(receives));
}

} // namespace

std::vector<BootstrapData> makeOffers(const OpenRequest &request,
                                      std::span<const uint64_t> channels) {
  std::map<Rank, EdgeOffer> offers;
  for (const EdgeSpec &edge : request.out) {
    offers[edge.peer].sends = edge.messages.size();
    offers[edge.peer].sendHash = hashOf(edge.messages);
  }
  for (size_t i = 0; i < request.in.size(); ++i) {
    EdgeOffer &offer = offers[request.in[i].peer];
    offer.receives = request.in[i].messages.size();
    offer.receiveHash = hashOf(request.in[i].messages);
    offer.channel = channels[i];
  }
  std::vector<BootstrapData> parcels;
  for (auto &[peer, offer] : offers) {
    offer.fingerprint = request.fingerprint;
    parcels.push_back({peer, std::vector<std::byte>(sizeof offer)});
    std::memcpy(parcels.back().bytes.data(), &offer, sizeof offer);
  }
  return parcels;
}

EdgeOffer readOffer(const BootstrapData &parcel) {
  EdgeOffer offer;
  if (parcel.bytes.size() == sizeof offer)
    std::memcpy(&offer, parcel.bytes.data(), sizeof offer);
  return offer;
}

Status compareOffers(Rank self, const EdgeOffer &own, Rank peer, const EdgeOffer &theirs) {
  if (Status s =
          compareEdge(self, own.sends, own.sendHash, peer, theirs.receives, theirs.receiveHash);
      !s)
    return s;
  if (Status s =
          compareEdge(peer, theirs.sends, theirs.sendHash, self, own.receives, own.receiveHash);
      !s)
    return s;
  if (own.fingerprint == theirs.fingerprint)
    return {};
  return Status::error("rank " + std::to_string(index(self)) + " and rank " +
                       std::to_string(index(peer)) +
                       " disagree on the type, the size or the values that the plan is made with");
}

namespace {

Status checkPeers(std::span<const EdgeSpec> edges, uint32_t numRanks) {
  for (const EdgeSpec &edge : edges)
    if (index(edge.peer) >= numRanks)
      return Status::error("there is no rank " + std::to_string(index(edge.peer)) + " among " +
                           std::to_string(numRanks));
  return {};
}

} // namespace

// A rank that finds fault goes through all steps nevertheless, so that nobody waits for
// it; what it found is in the failure log before it reaches the last barrier.
Status ShmEndpoint::openWithAll(ShmChannels &channels, Status own, const OpenRequest &request) {
  auto tell = [&] {
    channels.abort({self_, kNoOp, "rank " + std::to_string(index(self_)) + ": " + own.message()});
  };
  if (!own)
    tell();
  if (Status met = channels.connect(own ? request : OpenRequest()); !met)
    return met; // told to all already
  if (own && !channels.failed() && request.ready)
    if (own = request.ready(channels); !own)
      tell();
  Result<std::optional<Fault>> verdict = bootstrap_.agree(channels.plan_);
  if (!verdict)
    return verdict.status();
  if (*verdict && own)
    return Status::error((*verdict)->reason);
  return own;
}

std::unique_ptr<ShmChannels> ShmEndpoint::openNext() {
  std::lock_guard lock(mutex_);
  static_assert(OpenPlans::kNone == Arena::kNoRoom);
  open_.open(plans_, [this](uint64_t bytes) { return arena_.allocate(bytes); });
  return std::make_unique<ShmChannels>(*this, plans_++);
}

Result<std::unique_ptr<Channels>> ShmEndpoint::open(const OpenRequest &request) {
  std::lock_guard lock(openMutex_);
  auto channels = openNext();
  Status own = checkPeers(request.out, numRanks());
  if (own)
    own = checkPeers(request.in, numRanks());
  if (own)
    own = channels->layOut(request.in);
  if (Status s = openWithAll(*channels, own, request); !s)
    return s;
  channels->connected_ = true;
  return std::unique_ptr<Channels>(std::move(channels));
}

void ShmEndpoint::refuse(const std::string &reason) {
  std::lock_guard lock(openMutex_);
  (void)openWithAll(*openNext(), Status::error(reason), {});
}

Status ShmChannels::layOut(std::span<const EdgeSpec> in) {
  for (const EdgeSpec &edge : in) {
    auto messages = static_cast<uint32_t>(edge.messages.size());
    uint32_t lines = ringLines(messages, endpoint_.world_.options().maxRingLines);
    Result<uint64_t> block = endpoint_.allocate(channelBytes(lines, messages));
    if (!block)
      return block.status();
    ownChannels_.push_back(*block);
    receiver_.addChannel(edge, *block);
  }
  return {};
}

// Fails only if not all ranks could be reached. Disagreements go to the log.
Status ShmChannels::connect(const OpenRequest &request) {
  std::vector<BootstrapData> offers = makeOffers(request, ownChannels_);
  std::vector<BootstrapData> answers;
  for (const BootstrapData &offer : offers)
    answers.push_back({offer.peer, {}});
  if (Status s = endpoint_.bootstrap_.exchange(offers, answers); !s)
    return s;
  std::map<Rank, uint64_t> places;
  for (size_t i = 0; i < offers.size(); ++i) {
    EdgeOffer theirs = readOffer(answers[i]);
    Rank peer = offers[i].peer;
    if (Status s = compareOffers(endpoint_.self_, readOffer(offers[i]), peer, theirs); !s)
      abort({peer, kNoOp, s.message()});
    places[peer] = theirs.channel;
    endpoint_.health_.watch(peer);
  }
  if (failed())
    return {};
  uint64_t messages = 0;
  for (const EdgeSpec &edge : request.out) {
    sender_.addChannel(edge, places[edge.peer]);
    messages += edge.messages.size();
  }
  for (const EdgeSpec &edge : request.in)
    messages += edge.messages.size();
  sender_.seal();
  receiver_.seal();
  done_.reserve(messages);
  return {};
}

} // namespace colldsl::shm
