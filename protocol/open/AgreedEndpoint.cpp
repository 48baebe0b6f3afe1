#include "protocol/open/AgreedEndpoint.h"

#include "ir/Concat.h"
#include "protocol/open/EdgeOffer.h"
#include "protocol/open/PlanTerms.h"

#include <cassert>
#include <cstring>

namespace colldsl::protocol {
namespace {

/// In front of the reason, as it is sent.
struct Label {
  Objection::Cause cause;
  ErrorKind kind;
};

std::vector<std::byte> pack(const Objection &objection) {
  Label label{objection.cause, objection.kind};
  std::vector<std::byte> bytes(sizeof label + objection.reason.size());
  std::memcpy(bytes.data(), &label, sizeof label);
  std::memcpy(bytes.data() + sizeof label, objection.reason.data(), objection.reason.size());
  return bytes;
}

std::optional<Objection> unpack(std::span<const std::byte> bytes) {
  Label label;
  if (bytes.size() < sizeof label)
    return std::nullopt;
  std::memcpy(&label, bytes.data(), sizeof label);
  bytes = bytes.subspan(sizeof label);
  return Objection{
      label.cause, label.kind, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}};
}

/// The one among the objections of all ranks that counts, alike on all of them; nothing: no rank
/// objects.
std::optional<Objection> verdictOf(std::span<const BootstrapData> all) {
  std::optional<Objection> verdict;
  for (const BootstrapData &data : all)
    if (std::optional<Objection> objection = unpack(data.bytes))
      if (!verdict || objection->cause < verdict->cause)
        verdict = std::move(objection);
  return verdict;
}

} // namespace

AgreedEndpoint::AgreedEndpoint(Endpoint &inner, Bootstrap &bootstrap, RankGroup group)
    : inner_(inner), bootstrap_(bootstrap), group_(std::move(group)) {
  refreshCaps();
  bootstrap_.whileWaiting([this] {
    if (whileOpening_)
      whileOpening_();
  });
}

void AgreedEndpoint::refreshCaps() {
  caps_ = inner_.caps();
  assert(caps_.opensAlone && "its open waits for all ranks already");
  caps_.opensAlone = false;
}

Result<std::unique_ptr<Channels>> AgreedEndpoint::open(const OpenRequest &request) {
  std::lock_guard lock(mutex_);
  return openWithAll(group_.check(request), request);
}

void AgreedEndpoint::refuse(const std::string &reason) {
  std::lock_guard lock(mutex_);
  (void)openWithAll(Status::error(ErrorKind::Refused, reason), {});
}

// A rank that objects goes through all steps nevertheless, so that no other rank waits for it, and
// so that the inner endpoints number their plans alike.
Result<std::unique_ptr<Channels>> AgreedEndpoint::openWithAll(Status own,
                                                              const OpenRequest &request) {
  Result<std::optional<Objection>> objection = compareWithPeers(own ? request : OpenRequest());
  if (!objection)
    return objection.status();
  std::unique_ptr<Channels> channels;
  if (own && !*objection) {
    Result<std::unique_ptr<Channels>> opened = inner_.open(request);
    own = opened.status();
    if (opened)
      channels = opened.take();
  } else {
    inner_.refuse(own ? (*objection)->reason : own.message());
  }
  if (!own)
    *objection = {Objection::Cause::Rank, own.kind(),
                  concat("rank ", index(rank()), ": ", own.message())};
  Result<std::optional<Objection>> verdict = agree(*objection);
  if (!verdict)
    return verdict.status();
  if (!own)
    return own;
  if (*verdict) {
    Result<Objection> full = withTerms(std::move(**verdict), request.terms);
    return full ? Status::error(full->kind, full->reason) : full.status();
  }
  return Result<std::unique_ptr<Channels>>(std::move(channels));
}

// An error: not all peers could be reached.
Result<std::optional<Objection>> AgreedEndpoint::compareWithPeers(const OpenRequest &request) {
  std::vector<BootstrapData> offers = makeOffers(request), answers;
  for (const BootstrapData &offer : offers)
    answers.push_back({offer.peer, {}});
  if (Status s = exchange(offers, answers); !s)
    return s;
  for (size_t i = 0; i < offers.size(); ++i) {
    Status s = compareOffers(rank(), readOffer(offers[i]), offers[i].peer, readOffer(answers[i]));
    if (!s)
      return std::optional(Objection{Objection::Cause::Edge, s.kind(), s.message()});
  }
  return std::optional<Objection>();
}

// An error: not all ranks could be reached.
Result<std::optional<Objection>> AgreedEndpoint::agree(const std::optional<Objection> &own) {
  std::vector<BootstrapData> all = toAll({});
  if (Status s = exchange(own ? toAll(pack(*own)) : std::vector<BootstrapData>(), all); !s)
    return s;
  return verdictOf(all);
}

// All ranks are here: none had a reason of its own. Where the edges follow from terms, the terms
// are the reason.
Result<Objection> AgreedEndpoint::withTerms(Objection verdict, std::string_view terms) {
  if (verdict.cause != Objection::Cause::Edge)
    return verdict;
  auto bytes = std::as_bytes(std::span(terms));
  std::vector<BootstrapData> all = toAll({});
  if (Status s = exchange(toAll({bytes.begin(), bytes.end()}), all); !s)
    return s;
  auto textOf = [](const BootstrapData &data) {
    return std::string_view(reinterpret_cast<const char *>(data.bytes.data()), data.bytes.size());
  };
  for (const BootstrapData &other : all)
    if (Status s = compareTerms(all[0].peer, textOf(all[0]), other.peer, textOf(other)); !s)
      return Objection{verdict.cause, verdict.kind, s.message()};
  return verdict;
}

/// These bytes for each rank that takes part.
std::vector<BootstrapData> AgreedEndpoint::toAll(const std::vector<std::byte> &bytes) const {
  std::vector<BootstrapData> all;
  for (uint32_t r = 0; r < numRanks(); ++r)
    if (group_.ranks[r] != kNoRank)
      all.push_back({Rank{r}, bytes});
  return all;
}

// Peers are named as in the group, whose order is that of the bootstrap.
Status AgreedEndpoint::exchange(std::vector<BootstrapData> out, std::vector<BootstrapData> &in) {
  for (BootstrapData &data : out)
    data.peer = group_.rankAt(data.peer);
  for (BootstrapData &data : in)
    data.peer = group_.rankAt(data.peer);
  Status s = bootstrap_.exchange(out, in);
  for (BootstrapData &data : in)
    data.peer = group_.placeOf(data.peer);
  return s;
}

} // namespace colldsl::protocol
