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

/// Gathers lists whose lengths all ranks know.
PeerLists gatherLists(MPI_Comm comm, const std::vector<uint32_t> &mine,
                      const std::vector<int> &counts) {
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<uint32_t> all(static_cast<size_t>(places.back() + counts.back()));
  real::Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_UINT32_T, all.data(),
                   counts.data(), places.data(), MPI_UINT32_T, comm);
  PeerLists lists;
  for (size_t r = 0; r < counts.size(); ++r)
    lists.emplace_back(all.begin() + places[r], all.begin() + places[r] + counts[r]);
  return lists;
}

/// The way that the model chooses; null: `direct`.
template <typename Ways> auto bestOf(const Ways &ways) {
  auto best = std::find_if(ways.begin(), ways.end(), [](const auto &way) { return way->isBetter; });
  return best == ways.end() ? nullptr : *best;
}

} // namespace

NeighborGraph::NeighborGraph(Job &job, Communicator &ranks)
    : job_(job), topology_(ranks.topology()), rank_(ranks.rank()) {}

// A call gains at most the time that its busiest rank spends on messages between nodes.
std::shared_ptr<NeighborGraph> NeighborGraph::gather(Job &job, MPI_Comm comm, Communicator &ranks,
                                                     const FarPeers &mine, uint32_t degree) {
  std::shared_ptr<NeighborGraph> graph(new NeighborGraph(job, ranks));
  int own[2] = {static_cast<int>(mine.peers.size()), mine.areWeighted};
  std::vector<std::array<int, 2>> all(ranks.numRanks());
  real::Allgather(own, 2, MPI_INT, all.data(), 2, MPI_INT, comm);
  std::vector<int> counts;
  uint64_t edges = 0;
  bool areWeighted = false;
  for (auto [count, isWeighted] : all) {
    counts.push_back(count);
    edges += static_cast<uint64_t>(count);
    areWeighted |= isWeighted != 0;
  }
  if (edges > kMostEdges)
    return nullptr;
  graph->peers_ = gatherLists(comm, mine.peers, counts);
  if (areWeighted)
    graph->weights_ = gatherLists(comm, mine.weights, counts);
  const LogGop &network = job.machine().distances[kOtherNode];
  uint64_t mostGain = std::max<uint64_t>(2 * degree * network.o, 1);
  uint64_t runs = searchNs(graph->peers_, job.learning() != nullptr) / mostGain;
  const Settings &settings = Settings::all();
  bool isAtOnce = settings.graphPasses() == GraphPasses::Always || settings.learnsAlways();
  graph->firstRun_ =
      isAtOnce ? 1 : static_cast<uint32_t>(std::min<uint64_t>(runs, UINT32_MAX - 2)) + 2;
  return graph;
}

const std::vector<NeighborGraph::Way> &NeighborGraph::ways(bool sendsSame) {
  std::optional<std::vector<Way>> &found = found_[sendsSame];
  if (!found)
    found = search(sendsSame);
  return *found;
}

NeighborGraph::Way NeighborGraph::exchange(bool sendsSame) { return bestOf(ways(sendsSame)); }

NeighborGraph::Way NeighborGraph::way(bool sendsSame, const std::string &name) {
  const std::vector<Way> &all = ways(sendsSame);
  return *std::find_if(all.begin(), all.end(), [&](const Way &way) { return way->name == name; });
}

std::vector<NeighborGraph::Way> NeighborGraph::search(bool sendsSame) const {
  GraphExchangeRequest request{peers_, topology_, job_.machine(), rank_, sendsSame, weights_};
  request.wantsAll = job_.learning() != nullptr;
  Result<std::vector<GraphExchange>> found = waysAlong(job_.library(), request);
  if (Settings::all().isVerbose() && index(rank_) == 0)
    report(sendsSame, found);
  std::vector<Way> ways;
  if (found)
    for (GraphExchange &way : *found)
      ways.push_back(std::make_shared<const GraphExchange>(std::move(way)));
  return ways;
}

void NeighborGraph::report(bool sendsSame, const Result<std::vector<GraphExchange>> &found) const {
  std::string what;
  if (!found) {
    what = concat("as written: ", found.message());
  } else {
    std::vector<const GraphExchange *> ways;
    for (const GraphExchange &way : *found)
      ways.push_back(&way);
    if (const GraphExchange *best = bestOf(ways))
      what = concat(
          best->passes, ": by the model ", best->beforeNs, " ns, then ", best->afterNs, " ns; ",
          best->capacityBytes > 0 ? concat("messages up to ", best->capacityBytes, " bytes")
                                  : "all messages");
    else if (ways.size() > 1)
      what = concat("as written: by the model ", ways[1]->beforeNs, " ns, with passes ",
                    ways[1]->afterNs, " ns");
    else
      what = "as written: passes change nothing";
  }
  printMessage("colldsl: graph of %zu ranks, %s between nodes%s, from run %u on: %s\n",
               peers_.size(), sendsSame ? "a block to all" : "a block to each",
               weights_.empty() ? "" : " as long as their edges weigh", firstRun_, what.c_str());
}

} // namespace colldsl::mpi
