// Of WireUp.h what needs no network.
#include "runtime/Meeting.h"

#include "ir/Concat.h"

#include <algorithm>
#include <map>

namespace colldsl {

Result<WiredUp> shareMemory(const OutOfBand &launcher, const shm::Options &options) {
  Meeting meeting(launcher, options);
  if (Status s = meeting.begin(true); !s)
    return s;
  std::vector<uint32_t> nodes = firstOfNodes(meeting.cards(), 0);
  auto other = std::find_if(nodes.begin(), nodes.end(), [](uint32_t first) { return first != 0; });
  if (other != nodes.end())
    return Status::error(concat("ranks 0 and ", *other, " cannot share memory: they are on hosts ",
                                meeting.cards()[0].host, " and ", meeting.cards()[*other].host));
  return meeting.share(std::move(nodes));
}

Result<std::vector<uint32_t>> whoSharesMemory(const OutOfBand &launcher) {
  std::vector<Card> cards;
  if (Status s = exchangeCards(launcher, makeCard(launcher), cards); !s)
    return s;
  return firstOfNodes(cards, 0);
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
  return listPus(set);
}

} // namespace colldsl
