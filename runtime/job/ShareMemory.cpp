// The functions of WireUp.h that need no network.
#include "ir/Concat.h"
#include "runtime/job/NodeMemory.h"
#include "wireup/Nodes.h"

#include <algorithm>

namespace colldsl {

Result<WiredUp> shareMemory(const Oob &oob, const shm::Options &options) {
  ProcessInfoExchange exchange(oob);
  NodeMemory memory(oob, exchange, options);
  memory.offer();
  if (Status s = exchange.run(); !s)
    return s;
  std::vector<uint32_t> nodes = firstOfNodes(exchange.processes(), 0);
  auto other = std::find_if(nodes.begin(), nodes.end(), [](uint32_t first) { return first != 0; });
  if (other != nodes.end())
    return Status::error(concat("ranks 0 and ", *other, " cannot share memory: they are on hosts ",
                                exchange.processes()[0].host, " and ",
                                exchange.processes()[*other].host));
  return memory.share(std::move(nodes));
}

// A machine that cannot be determined is taken as flat, so that the other ranks do not wait.
Result<Topology> findPlaces(const Oob &oob, const WiredUp &wired) {
  Result<Topology> here = Topology::onThisMachine(wired.pus);
  if (isOneNode(wired.nodes))
    return here;
  auto ranksHere = static_cast<uint32_t>(wired.pus.size());
  Topology known = here ? here.take() : Topology::flat(ranksHere);
  std::vector<uint32_t> members = ranksOfNode(wired.nodes, oob.rank);
  auto self = std::find(members.begin(), members.end(), oob.rank) - members.begin();
  Place mine = known.place(Rank{static_cast<uint32_t>(self)});
  std::vector<Place> places(oob.numRanks);
  if (Status s = oob.allgather(&mine, places.data(), sizeof mine); !s)
    return s;
  for (size_t r = 0; r < places.size(); ++r)
    places[r].node = wired.nodes[r];
  return Topology::fromNodes(std::move(places));
}

} // namespace colldsl
