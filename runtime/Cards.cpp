#include "runtime/Cards.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl {
namespace {

// Empty where the kernel does not tell; then hosts are known by their names.
void readBootId(Card &card) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  ssize_t length = read(file, card.boot, sizeof card.boot - 1);
  close(file);
  card.boot[std::max<ssize_t>(length, 0)] = '\0';
}

uint64_t namespaceAt(const char *path) {
  struct stat space {};
  return stat(path, &space) == 0 ? space.st_ino : 0;
}

/// By rank, the first one that is with it, as `areTogether` says of two ranks.
template <typename Together>
std::vector<uint32_t> firstOf(std::span<const Card> cards, Together areTogether) {
  std::vector<uint32_t> first, leaders;
  for (uint32_t r = 0; r < cards.size(); ++r) {
    auto at = std::find_if(leaders.begin(), leaders.end(),
                           [&](uint32_t leader) { return areTogether(leader, r); });
    if (at == leaders.end())
      at = leaders.insert(at, r);
    first.push_back(*at);
  }
  return first;
}

bool has(const Card &card, auto condition) {
  return std::any_of(card.interfaces.begin(), card.interfaces.end(),
                     [&](const network::Interface &own) {
                       return own.address != network::Address() && condition(own);
                     });
}

} // namespace

bool isSameMachine(const Card &a, const Card &b) {
  return std::strcmp(a.boot, b.boot) == 0 && (a.boot[0] || std::strcmp(a.host, b.host) == 0);
}

Card makeCard(const OutOfBand &launcher) {
  Card card;
  card.numRanks = launcher.numRanks;
  card.process = getpid();
  gethostname(card.host, sizeof card.host - 1);
  readBootId(card);
  card.processNamespace = namespaceAt("/proc/self/ns/pid");
  card.networkNamespace = namespaceAt("/proc/self/ns/net");
  sched_getaffinity(0, sizeof card.allowed, &card.allowed);
  return card;
}

void noteTrouble(Card &card, std::string_view text) {
  size_t length = std::min(text.size(), sizeof card.trouble - 1);
  std::memcpy(card.trouble, text.data(), length);
  card.trouble[length] = '\0';
}

Status exchangeCards(const OutOfBand &launcher, const Card &mine, std::vector<Card> &cards) {
  cards.resize(launcher.numRanks);
  if (Status s = launcher.allgather(&mine, cards.data(), sizeof mine); !s)
    return s;
  for (Card &card : cards) { // what another process wrote
    card.host[sizeof card.host - 1] = card.boot[sizeof card.boot - 1] = '\0';
    card.trouble[sizeof card.trouble - 1] = '\0';
  }
  return {};
}

Status compare(std::span<const Card> cards) {
  for (uint32_t r = 0; r < cards.size(); ++r) {
    if (cards[r].trouble[0])
      return Status::error(concat("rank ", r, ": ", cards[r].trouble));
    if (cards[r].numRanks != cards[0].numRanks)
      return Status::error(concat("rank 0 says that there are ", cards[0].numRanks, " ranks, rank ",
                                  r, " says ", cards[r].numRanks));
  }
  return {};
}

std::vector<uint32_t> firstOfNodes(std::span<const Card> cards, uint32_t ranksPerNode) {
  return firstOf(cards, [&](uint32_t a, uint32_t b) {
    return isSameMachine(cards[a], cards[b]) &&
           cards[a].processNamespace == cards[b].processNamespace &&
           (ranksPerNode == 0 || a / ranksPerNode == b / ranksPerNode);
  });
}

std::vector<uint32_t> firstOfHosts(std::span<const Card> cards) {
  return firstOf(cards, [&](uint32_t a, uint32_t b) {
    return isSameMachine(cards[a], cards[b]) &&
           cards[a].networkNamespace == cards[b].networkNamespace;
  });
}

// The first that no other host has, and in whose network all are; if there is none, then routes
// will have to do.
Result<network::Address> meetingPoint(std::span<const Card> cards,
                                      std::span<const uint32_t> hosts) {
  network::Address routed;
  for (const network::Interface &mine : cards[0].interfaces) {
    bool isUnique = mine.address != network::Address(), isCommon = true;
    for (uint32_t r = 0; r < cards.size() && isUnique; ++r) {
      if (hosts[r] == hosts[0])
        continue;
      isUnique = !has(cards[r], [&](const auto &own) { return own.address == mine.address; });
      isCommon =
          isCommon && has(cards[r], [&](const auto &own) { return mine.reaches(own.address); });
    }
    if (isUnique && isCommon)
      return mine.address;
    if (isUnique && routed == network::Address())
      routed = mine.address;
  }
  if (routed != network::Address())
    return routed;
  return Status::error(
      concat("host ", cards[0].host, " of rank 0 has no address for the others to reach"));
}

std::vector<uint32_t> listPus(const cpu_set_t &set) {
  std::vector<uint32_t> pus;
  for (uint32_t pu = 0; pu < CPU_SETSIZE; ++pu)
    if (CPU_ISSET(pu, &set))
      pus.push_back(pu);
  if (pus.empty())
    pus.push_back(0);
  return pus;
}

} // namespace colldsl
