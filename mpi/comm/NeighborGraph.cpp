#include "mpi/comm/NeighborGraph.h"

#include "ir/Concat.h"
#include "mpi/Job.h"
#include "mpi/PrintMessage.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mpi {
namespace {

// More edges than these are not gathered.
constexpr uint64_t kMostEdges = 1 << 20;

PeerLists gatherPeers(MPI_Comm comm, int ranks, const std::vector<uint32_t> &mine) {
  auto count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<size_t>(ranks)), places(counts.size());
  real::Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  uint64_t edges = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  if (edges > kMostEdges)
    return {};
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<uint32_t> all(edges);
  real::Allgatherv(mine.data(), count, MPI_UINT32_T, all.data(), counts.data(), places.data(),
                   MPI_UINT32_T, comm);
  PeerLists peers;
  for (size_t r = 0; r < counts.size(); ++r)
    peers.emplace_back(all.begin() + places[r], all.begin() + places[r] + counts[r]);
  return peers;
}

} // namespace

NeighborGraph::NeighborGraph(Job &job, Communicator &ranks)
    : job_(job), topology_(ranks.topology()), rank_(ranks.rank()) {}

// A call gains at most the time that its busiest rank spends on messages between nodes.
std::shared_ptr<NeighborGraph> NeighborGraph::gather(Job &job, MPI_Comm comm, Communicator &ranks,
                                                     std::vector<uint32_t> peers, uint32_t degree) {
  std::shared_ptr<NeighborGraph> graph(new NeighborGraph(job, ranks));
  graph->peers_ = gatherPeers(comm, static_cast<int>(ranks.numRanks()), peers);
  if (graph->peers_.empty())
    return nullptr;
  const LogGop &network = job.machine().distances[kOtherNode];
  uint64_t mostGain = std::max<uint64_t>(2 * degree * network.o, 1);
  uint64_t runs = searchNs(graph->peers_) / mostGain;
  graph->firstRun_ = Settings::all().graphPasses() == GraphPasses::Always
                         ? 1
                         : static_cast<uint32_t>(std::min<uint64_t>(runs, UINT32_MAX - 2)) + 2;
  return graph;
}

std::shared_ptr<const GraphExchange> NeighborGraph::exchange(bool sendsSame) {
  std::optional<std::shared_ptr<const GraphExchange>> &found = found_[sendsSame];
  if (!found)
    found = search(sendsSame);
  return *found;
}

std::shared_ptr<const GraphExchange> NeighborGraph::search(bool sendsSame) const {
  Result<GraphExchange> found =
      exchangeAlong(job_.library(), {peers_, topology_, job_.machine(), rank_, sendsSame});
  if (Settings::all().isVerbose() && index(rank_) == 0)
    report(sendsSame, found);
  return found && found->isBetter() ? std::make_shared<const GraphExchange>(found.take()) : nullptr;
}

void NeighborGraph::report(bool sendsSame, const Result<GraphExchange> &found) const {
  std::string what;
  if (!found)
    what = "as written: " + found.message();
  else if (!found->isBetter())
    what = concat("as written: by the model ", found->beforeNs, " ns, with passes ", found->afterNs,
                  " ns");
  else
    what = concat(found->passes, ": by the model ", found->beforeNs, " ns, then ", found->afterNs,
                  " ns; messages up to ", found->capacityBytes, " bytes");
  printMessage("colldsl: graph of %zu ranks, %s between nodes, from run %u on: %s\n", peers_.size(),
               sendsSame ? "a block to all" : "a block to each", firstRun_, what.c_str());
}

} // namespace colldsl::mpi
