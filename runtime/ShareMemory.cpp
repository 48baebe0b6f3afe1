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

Result<uint32_t> countOnMachine(const OutOfBand &launcher) {
  std::vector<Card> cards;
  Card mine = makeCard(launcher);
  if (Status s = exchangeCards(launcher, mine, cards); !s)
    return s;
  return static_cast<uint32_t>(std::count_if(
      cards.begin(), cards.end(), [&](const Card &card) { return isSameMachine(card, mine); }));
}

// A machine that cannot be known has no structure, rather than keep the others waiting.
Result<Topology> findPlaces(const OutOfBand &launcher, const WiredUp &wired) {
  Result<Topology> here = Topology::onThisMachine(wired.pus);
  if (isOneNode(wired.nodes))
    return here;
  auto ranksHere = static_cast<uint32_t>(wired.pus.size());
  Topology known = here ? here.take() : Topology::flat(ranksHere);
  std::vector<uint32_t> members = ranksOfNode(wired.nodes, launcher.rank);
  auto self = std::find(members.begin(), members.end(), launcher.rank) - members.begin();
  Place mine = known.place(Rank{static_cast<uint32_t>(self)});
  std::vector<Place> places(launcher.numRanks);
  if (Status s = launcher.allgather(&mine, places.data(), sizeof mine); !s)
    return s;
  for (size_t r = 0; r < places.size(); ++r)
    places[r].node = wired.nodes[r];
  return Topology::fromNodes(std::move(places));
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
