#include "runtime/WireUp.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl {
namespace {

/// What each rank tells all others first.
struct Card {
  uint32_t numRanks = 0;
  int32_t process = 0;
  int32_t descriptor = -1; ///< rank 0: of the shared memory
  uint64_t processNamespace = 0;
  char host[65] = {};
  char boot[37] = {};     ///< the machine, since it was started
  char trouble[160] = {}; ///< empty: none
  cpu_set_t allowed = {};
};

void copyText(char *to, size_t room, std::string_view text) {
  size_t length = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// Empty where the kernel does not tell; then hosts are known by their names.
void readBootId(Card &card) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  ssize_t length = read(file, card.boot, sizeof card.boot - 1);
  close(file);
  card.boot[std::max<ssize_t>(length, 0)] = '\0';
}

Card makeCard(const OutOfBand &launcher) {
  Card card;
  card.numRanks = launcher.numRanks;
  card.process = getpid();
  gethostname(card.host, sizeof card.host - 1);
  readBootId(card);
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0)
    card.processNamespace = space.st_ino;
  sched_getaffinity(0, sizeof card.allowed, &card.allowed);
  return card;
}

bool sameMachine(const Card &a, const Card &b) {
  return std::strcmp(a.boot, b.boot) == 0 && (a.boot[0] || std::strcmp(a.host, b.host) == 0);
}

// The same answer on all ranks, because all see the same cards.
Status compare(std::span<const Card> cards) {
  for (uint32_t r = 0; r < cards.size(); ++r) {
    const Card &card = cards[r], &first = cards[0];
    if (card.trouble[0])
      return Status::error(concat("rank ", r, ": ", card.trouble));
    if (card.numRanks != first.numRanks)
      return Status::error(concat("rank 0 says that there are ", first.numRanks, " ranks, rank ", r,
                                  " says ", card.numRanks));
    if (!sameMachine(card, first))
      return Status::error(concat("rank 0 is on host ", first.host, ", rank ", r, " on host ",
                                  card.host, "; ranks must share a machine"));
    if (card.processNamespace != first.processNamespace)
      return Status::error(concat("ranks 0 and ", r, " live in different process namespaces"));
  }
  return {};
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

Result<std::unique_ptr<shm::World>> openWorldOf(const Card &card, uint32_t numRanks,
                                                const shm::Options &options) {
  std::string path = concat("/proc/", card.process, "/fd/", card.descriptor);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return Status::error(
        concat("cannot open the shared memory of rank 0 at ", path, ": ", std::strerror(errno)));
  Result<std::unique_ptr<shm::World>> world = shm::World::open(file, numRanks, options);
  close(file);
  return world;
}

std::vector<uint32_t> list(const cpu_set_t &set) {
  std::vector<uint32_t> pus;
  for (uint32_t pu = 0; pu < CPU_SETSIZE; ++pu)
    if (CPU_ISSET(pu, &set))
      pus.push_back(pu);
  if (pus.empty())
    pus.push_back(0);
  return pus;
}

} // namespace

// Two exchanges: of cards, and of how opening the memory went. Whoever has trouble takes
// part in both, so that all ranks learn of it.
Result<WiredUp> shareMemory(const OutOfBand &launcher, const shm::Options &options,
                            const Status &own) {
  if (launcher.numRanks == 0)
    return Status::error("there are no ranks");
  WiredUp wired;
  Card mine = makeCard(launcher);
  std::string trouble = own ? "" : own.message();
  if (launcher.rank >= launcher.numRanks)
    trouble = concat("there is no rank ", launcher.rank, " among ", launcher.numRanks, " ranks");
  copyText(mine.trouble, sizeof mine.trouble, trouble);
  auto take = [&](Result<std::unique_ptr<shm::World>> world) {
    if (world)
      wired.world = world.take();
    else
      copyText(mine.trouble, sizeof mine.trouble, world.message());
  };
  if (launcher.rank == 0) {
    take(shm::World::create(launcher.numRanks, options));
    mine.descriptor = wired.world ? wired.world->descriptor() : -1;
  }
  std::vector<Card> cards;
  for (int round = 0; round < 2; ++round) {
    if (Status s = exchangeCards(launcher, mine, cards); !s)
      return s;
    if (Status s = compare(cards); !s)
      return s;
    if (round == 0 && launcher.rank != 0)
      take(openWorldOf(cards[0], launcher.numRanks, options));
  }
  wired.world->closeDescriptor();
  // So that one that dies before it joins is noticed.
  for (uint32_t r = 0; r < launcher.numRanks; ++r)
    wired.world->control(Rank{r}).pid.store(cards[r].process, std::memory_order_release);
  std::vector<std::vector<uint32_t>> allowed;
  for (const Card &card : cards)
    allowed.push_back(list(card.allowed));
  wired.pus = spreadRanks(allowed);
  return wired;
}

Result<std::vector<uint32_t>> whoSharesMemory(const OutOfBand &launcher) {
  std::vector<Card> cards;
  if (Status s = exchangeCards(launcher, makeCard(launcher), cards); !s)
    return s;
  std::vector<uint32_t> first;
  for (uint32_t r = 0; r < cards.size(); ++r) {
    auto sees = [&](const Card &card) {
      return sameMachine(card, cards[r]) && card.processNamespace == cards[r].processNamespace;
    };
    auto at = std::find_if(cards.begin(), cards.end(), sees);
    first.push_back(static_cast<uint32_t>(at - cards.begin()));
  }
  return first;
}

Result<WiredUp> wireUp(const OutOfBand &launcher, const shm::Options &options, const Status &own) {
  Result<WiredUp> wired = shareMemory(launcher, options, own);
  if (!wired)
    return wired;
  auto endpoint = wired->world->attach(Rank{launcher.rank});
  if (!endpoint)
    return endpoint.status();
  wired->endpoint = endpoint.take();
  if (launcher.barrier)
    if (Status s = launcher.barrier(); !s)
      return s;
  return wired;
}

std::vector<uint32_t> spreadRanks(std::span<const std::vector<uint32_t>> allowed) {
  std::map<uint32_t, uint32_t> ranksOn; // hardware thread -> how many
  std::vector<uint32_t> pus;
  for (const std::vector<uint32_t> &own : allowed) {
    uint32_t best = *std::min_element(own.begin(), own.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(ranksOn[a], a) < std::pair(ranksOn[b], b);
    });
    ++ranksOn[best];
    pus.push_back(best);
  }
  return pus;
}

std::vector<uint32_t> allowedPus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return list(set);
}

} // namespace colldsl
