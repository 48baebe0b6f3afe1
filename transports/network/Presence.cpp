#include "transports/network/Presence.h"

#include "transports/network/Failures.h"
#include "transports/shm/World.h"
#include "wireup/Interfaces.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

namespace colldsl::network {
namespace {

Result<std::vector<BootstrapData>> tellAll(Bootstrap &bootstrap, std::span<const std::byte> mine,
                                           uint32_t numRanks) {
  std::vector<BootstrapData> out, in;
  for (uint32_t r = 0; r < numRanks; ++r) {
    out.push_back({Rank{r}, {mine.begin(), mine.end()}});
    in.push_back({Rank{r}, {}});
  }
  if (Status s = bootstrap.exchange(out, in); !s)
    return s;
  return in;
}

std::string wordsOf(const BootstrapData &parcel) {
  return {reinterpret_cast<const char *>(parcel.bytes.data()), parcel.bytes.size()};
}

Status noteAddress(const Carrier &carrier, Card &card) {
  Result<std::vector<std::byte>> address = carrier.address();
  if (!address)
    return address.status();
  if (address->size() > card.address.size())
    return Status::error("the network's addresses are too long");
  std::copy(address->begin(), address->end(), card.address.begin());
  card.addressBytes = static_cast<uint16_t>(address->size());
  return {};
}

} // namespace

Result<Presence> appear(const Carrier &carrier, Rank self, const Options &options) {
  Presence presence;
  Card &card = presence.card;
  if (getrandom(&card.token, sizeof card.token, 0) != sizeof card.token)
    return Status::error("the kernel has no random numbers");
  if (Status s = noteAddress(carrier, card); !s)
    return s;
  Result<std::string> address = addressAt(options.bind);
  if (!address)
    return address.status();
  Result<std::unique_ptr<Watch>> watch =
      Watch::open(address.take(), self, card.token, options.silence);
  if (!watch)
    return watch.status();
  presence.watch = watch.take();
  presence.watch->describe(card);
  return presence;
}

// What is no card says why there is none.
Result<Directory> showCards(Bootstrap &bootstrap, const Card &card, uint32_t numRanks) {
  Result<std::vector<BootstrapData>> told =
      tellAll(bootstrap, std::as_bytes(std::span(&card, 1)), numRanks);
  if (!told)
    return told.status();
  const std::vector<BootstrapData> &in = *told;
  std::vector<Card> cards(numRanks);
  for (uint32_t r = 0; r < numRanks; ++r) {
    if (in[r].bytes.size() != sizeof(Card))
      return Status::error(ErrorKind::Refused, "rank " + std::to_string(r) + ": " + wordsOf(in[r]));
    std::memcpy(&cards[r], in[r].bytes.data(), sizeof(Card));
  }
  return Directory([cards = std::move(cards)](Rank rank) -> Result<Card> {
    if (index(rank) >= cards.size())
      return Status::error("there is no rank " + std::to_string(index(rank)));
    return cards[index(rank)];
  });
}

void missCards(Bootstrap &bootstrap, uint32_t numRanks, std::string why) {
  if (why.size() == sizeof(Card))
    why += ' ';
  (void)tellAll(bootstrap, std::as_bytes(std::span(why)), numRanks);
}

Fault faultOf(const Watch::News &news, Rank self) {
  std::string rank = "rank " + std::to_string(index(news.rank));
  switch (news.what) {
  case Watch::What::Died:
    return {news.rank, kNoOp, shm::reasonOfDeath(news.rank), ErrorKind::RankDied};
  case Watch::What::GaveUp:
    return {news.rank, kNoOp,
            rank + " cannot reach rank " + std::to_string(index(self)) + " any more"};
  case Watch::What::Failed: {
    std::optional<FailureBody> said = readFailure(std::as_bytes(std::span(&news.failure, 1)));
    return said ? Fault{said->culprit, kNoOp, said->reason, said->kind}
                : Fault{news.rank, kNoOp, rank + " says something that means nothing"};
  }
  case Watch::What::Silent:
    return {news.rank, kNoOp, rank + " cannot be reached: " + std::strerror(news.error)};
  }
  __builtin_unreachable();
}

} // namespace colldsl::network
