// All-pairs shortest paths by Floyd and Warshall: an MPI program that knows nothing of colldsl.
//
//   usage: mpirun -n P paths VERTICES [STEPS]
//
// Each rank holds a block of rows of the matrix of distances. In step k the owner of row k
// broadcasts it, and every rank shortens its paths by those through vertex k. Rank 0 prints the
// seconds of all steps, those in MPI_Bcast (the mean over the ranks) and a checksum of the matrix,
// which is the same for all numbers of ranks. STEPS ends the program early.
#include "bench/mpi/Rows.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

namespace {

// The length of the edge from i to j, drawn by a hash of both: one in four is there.
int edge(int i, int j) {
  uint32_t hash = static_cast<uint32_t>(i) * 2654435761u + static_cast<uint32_t>(j) * 40503u;
  hash = (hash ^ hash >> 15) * 2246822519u;
  hash ^= hash >> 13;
  constexpr int kNone = 1 << 28;
  return i == j ? 0 : hash % 4 != 0 ? kNone : 1 + static_cast<int>(hash / 4 % 10000);
}

class Paths {
public:
  explicit Paths(int vertices) : vertices_(vertices), through_(vertices) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    for (int i = firstOf(rank_); i < firstOf(rank_ + 1); ++i)
      for (int j = 0; j < vertices; ++j)
        rows_.push_back(edge(i, j));
  }

  /// The seconds in the broadcast.
  double step(int k) {
    while (firstOf(owner_ + 1) <= k)
      ++owner_;
    if (owner_ == rank_)
      std::copy_n(row(k), vertices_, through_.data());
    double begin = MPI_Wtime();
    MPI_Bcast(through_.data(), vertices_, MPI_INT, owner_, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - begin;
    for (int i = firstOf(rank_); i < firstOf(rank_ + 1); ++i)
      shorten(row(i), row(i)[k]);
    return seconds;
  }

  uint64_t checksum() const {
    uint64_t mine = 0, sum = 0;
    for (int i = firstOf(rank_); i < firstOf(rank_ + 1); ++i)
      for (int j = 0; j < vertices_; ++j)
        mine += static_cast<uint64_t>(row(i)[j]) * static_cast<uint64_t>(i * 31 + j * 17 + 1);
    MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
  }

private:
  int firstOf(int rank) const {
    return static_cast<int>(static_cast<int64_t>(vertices_) * rank / ranks_);
  }
  int *row(int i) { return rows_.data() + offset(i); }
  const int *row(int i) const { return rows_.data() + offset(i); }
  size_t offset(int i) const {
    return static_cast<size_t>(i - firstOf(rank_)) * static_cast<size_t>(vertices_);
  }
  void shorten(int *row, int toThrough) const {
    for (int j = 0; j < vertices_; ++j)
      row[j] = std::min(row[j], toThrough + through_[j]);
  }

  int vertices_, rank_, ranks_, owner_ = 0;
  std::vector<int> rows_, through_;
};

} // namespace

int main(int argc, char **argv) {
  int vertices = argc > 1 ? std::atoi(argv[1]) : 0;
  int steps = argc > 2 ? std::min(std::atoi(argv[2]), vertices) : vertices;
  if (vertices < 1 || steps < 1) {
    std::fprintf(stderr, "usage: mpirun -n P paths VERTICES [STEPS]\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Paths paths(vertices);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime(), inBroadcast = 0, all = 0;
  for (int k = 0; k < steps; ++k)
    inBroadcast += paths.step(k);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime() - begin;
  MPI_Reduce(&inBroadcast, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  uint64_t sum = paths.checksum();
  if (rank == 0)
    std::printf("%.3f %.3f %llx\n", seconds, all / ranks, static_cast<unsigned long long>(sum));
  bench::leaveInTime();
  MPI_Finalize();
  return 0;
}
