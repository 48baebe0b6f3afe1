#include "mpi/remote/MpiNodes.h"

#include "ir/Numbers.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/comm/WorldCollectives.h"
#include "wireup/Environment.h"
#include "wireup/ProcessInfo.h"

#include <map>
#include <numeric>
#include <set>

namespace colldsl::mpi {
namespace {

struct {
  const char *all, *onHost;
} constexpr kVariables[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                            {"PMI_SIZE", "MPI_LOCALNRANKS"}};

/// By rank, the first one of its host, as the launcher knows hosts, or else the MPI.
std::vector<uint32_t> firstOfHosts(uint32_t self, uint32_t ranks) {
  std::vector<uint32_t> first(ranks);
  std::optional<NumbersOfRanks> numbers = numbersOfLauncher();
  bool isOneHost = numbers && numbers->all == ranks && numbers->onHost == ranks;
  if (allAgree(MPI_COMM_WORLD, isOneHost)) // some rank may have lost its variables
    return first;
  MPI_Comm host = MPI_COMM_NULL;
  real::Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, static_cast<int>(self), MPI_INFO_NULL,
                        &host);
  bcast(&self, sizeof self, host); // that of the first one
  real::Comm_free(&host);
  allgather(&self, first.data(), sizeof self, MPI_COMM_WORLD);
  return first;
}

/// By rank, the first one that is with it in both divisions.
std::vector<uint32_t> bothOf(const std::vector<uint32_t> &a, const std::vector<uint32_t> &b) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> firstOf;
  std::vector<uint32_t> first;
  for (uint32_t r = 0; r < a.size(); ++r)
    first.push_back(firstOf.try_emplace({a[r], b[r]}, r).first->second);
  return first;
}

} // namespace

std::optional<NumbersOfRanks> numbersOfLauncher() {
  auto number = [](const char *name) {
    const char *value = setting(name);
    return value ? parseWhole<uint32_t>(value) : std::nullopt;
  };
  for (auto [all, onHost] : kVariables)
    if (number(all) && number(onHost))
      return NumbersOfRanks{*number(all), *number(onHost)};
  return std::nullopt;
}

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
    nodes.first = bothOf(firstOfNodes(processes, Settings::all().ranksPerNode()),
                         firstOfHosts(world.rank, world.numRanks));
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
