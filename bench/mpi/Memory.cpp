// Memory of each rank after collectives that connect it with its neighbours on a ring (`few`), or
// with all ranks (`all`). Rank 0 prints a line per rank: KiB of address space, KiB of resident
// memory, of which it counts its part of pages that several processes use.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

/// The KiB of a line of a file of /proc/self.
long kib(const char *file, const std::string &name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;)
    if (long value = 0; word == name + ':' && lines >> value)
      return value;
  return -1;
}

void exchangeOnRing(int ranks) {
  int periodic = 1;
  std::vector<char> sent(2 * 64), got(2 * 64);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  for (int i = 0; i < 2; ++i)
    MPI_Neighbor_alltoall(sent.data(), 64, MPI_BYTE, got.data(), 64, MPI_BYTE, ring);
  MPI_Comm_free(&ring);
}

void exchangeWithAll(int ranks) {
  std::vector<char> sent(static_cast<size_t>(ranks) * 64), got(sent.size());
  std::vector<int> counts(static_cast<size_t>(ranks), 64), places(counts.size());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int>(i) * 64;
  for (int i = 0; i < 2; ++i)
    MPI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_BYTE, got.data(), counts.data(),
                  places.data(), MPI_BYTE, MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  exchangeOnRing(ranks);
  if (argc > 1 && std::strcmp(argv[1], "all") == 0)
    exchangeWithAll(ranks);
  long mine[2] = {kib("/proc/self/status", "VmSize"), kib("/proc/self/smaps_rollup", "Pss")};
  std::vector<long> all(2 * static_cast<size_t>(ranks));
  MPI_Gather(mine, 2, MPI_LONG, all.data(), 2, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < ranks; ++r)
    std::printf("%ld %ld\n", all[2 * static_cast<size_t>(r)], all[2 * static_cast<size_t>(r) + 1]);
  MPI_Finalize();
  return 0;
}
