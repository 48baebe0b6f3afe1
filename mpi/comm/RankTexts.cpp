#include "mpi/comm/RankTexts.h"

#include "mpi/Real.h"

#include <numeric>
#include <vector>

namespace colldsl::mpi {

std::string gatherTexts(const std::string &mine) {
  int rank = 0, ranks = 1, length = static_cast<int>(mine.size());
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  real::Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> lengths(static_cast<size_t>(ranks)), places(lengths.size());
  real::Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
  size_t bytes = static_cast<size_t>(places.back() + lengths.back());
  std::string all(rank == 0 ? bytes : 0, ' ');
  real::Gatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE,
                0, MPI_COMM_WORLD);
  return all;
}

} // namespace colldsl::mpi
