#include "mpi/remote/MpiNodes.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"

#include <algorithm>
#include <set>

namespace colldsl::mpi {
namespace {

/// Splits the communicator: ranks with the same number stay together; frees the old communicator.
void split(MPI_Comm &comm, int number) {
  MPI_Comm whole = comm;
  int rank = 0;
  real::Comm_rank(whole, &rank);
  real::Comm_split(whole, number, rank, &comm);
  real::Comm_free(&whole);
}

} // namespace

Oob oobOf(MPI_Comm comm) {
  Oob oob;
  int rank = 0, ranks = 1;
  real::Comm_rank(comm, &rank);
  real::Comm_size(comm, &ranks);
  oob.rank = static_cast<uint32_t>(rank);
  oob.numRanks = static_cast<uint32_t>(ranks);
  oob.allgather = [comm](const void *mine, void *all, size_t bytes) {
    auto count = static_cast<int>(bytes);
    return mpiStatus(real::Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm),
                     "MPI_Allgather");
  };
  return oob;
}

Node makeNode() {
  Node node;
  int worldRank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &worldRank);
  real::Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, worldRank, MPI_INFO_NULL, &node.comm);
  Result<uint32_t> onMachine = countOnMachine(oobOf(MPI_COMM_WORLD));
  node.ranksOnMachine = onMachine ? *onMachine : oobOf(node.comm).numRanks;
  if (uint32_t most = Settings::all().ranksPerNode(); most != 0)
    split(node.comm, static_cast<int>(static_cast<uint32_t>(worldRank) / most));
  Oob oob = oobOf(node.comm);
  Result<std::vector<uint32_t>> first = whoSharesMemory(oob);
  if (first && std::any_of(first->begin(), first->end(), [](uint32_t rank) { return rank != 0; }))
    split(node.comm, static_cast<int>((*first)[oob.rank]));
  return node;
}

Nodes knowNodes(MPI_Comm node) {
  int worldRank = 0, worldRanks = 1;
  real::Comm_rank(MPI_COMM_WORLD, &worldRank);
  real::Comm_size(MPI_COMM_WORLD, &worldRanks);
  auto mine = static_cast<uint32_t>(worldRank); // then the first one of the node
  real::Bcast(&mine, 1, MPI_UINT32_T, 0, node);
  Nodes nodes;
  nodes.first.resize(static_cast<size_t>(worldRanks));
  real::Allgather(&mine, 1, MPI_UINT32_T, nodes.first.data(), 1, MPI_UINT32_T, MPI_COMM_WORLD);
  uint32_t next = 0;
  for (uint32_t of : nodes.first)
    nodes.placeOf.push_back(of == mine ? Rank{next++} : kNoRank);
  nodes.count =
      static_cast<uint32_t>(std::set<uint32_t>(nodes.first.begin(), nodes.first.end()).size());
  return nodes;
}

} // namespace colldsl::mpi
