#include "mpi/remote/MpiNodes.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/WorldCollectives.h"
#include "wireup/ProcessInfo.h"

#include <numeric>
#include <set>

namespace colldsl::mpi {
Oob oobOf(MPI_Comm comm) {
  Oob oob;
  int rank = 0, ranks = 1;
  real::Comm_rank(comm, &rank);
  real::Comm_size(comm, &ranks);
  oob.rank = static_cast<uint32_t>(rank);
  oob.numRanks = static_cast<uint32_t>(ranks);
  oob.allgather = [comm](const void *mine, void *all, size_t bytes) {
    auto count = static_cast<int>(bytes);
    return mpiStatus(allgather(mine, all, count, comm), "MPI_Iallgather");
  };
  return oob;
}

Nodes findNodes() {
  Oob world = oobOf(MPI_COMM_WORLD);
  std::vector<ProcessInfo> processes;
  Nodes nodes;
  if (exchangeProcessInfo(world, ownProcessInfo(world), processes)) {
    nodes.first = firstOfNodes(processes, Settings::all().ranksPerNode());
    nodes.ranksOnMachine = countOnMachine(processes, world.rank);
  } else { // each rank is alone
    nodes.first.resize(world.numRanks);
    std::iota(nodes.first.begin(), nodes.first.end(), 0);
  }
  uint32_t next = 0;
  for (uint32_t of : nodes.first)
    nodes.placeOf.push_back(of == nodes.first[world.rank] ? Rank{next++} : kNoRank);
  nodes.count =
      static_cast<uint32_t>(std::set<uint32_t>(nodes.first.begin(), nodes.first.end()).size());
  return nodes;
}

NodeComm::NodeComm(const Nodes &nodes) {
  int rank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  if (nodes.count > 1)
    real::Comm_split(MPI_COMM_WORLD, static_cast<int>(nodes.first[static_cast<size_t>(rank)]), rank,
                     &comm_);
}

NodeComm::~NodeComm() {
  if (comm_ != MPI_COMM_WORLD)
    real::Comm_free(&comm_);
}

} // namespace colldsl::mpi
