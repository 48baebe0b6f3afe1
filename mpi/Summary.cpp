#include "mpi/Summary.h"

#include "mpi/Real.h"

#include <cinttypes>
#include <cstdio>

namespace colldsl::mpi {

constinit Summary Summary::all_;

void Summary::print() const {
  uint64_t mine[kCallKinds][3], sums[kCallKinds][3];
  for (size_t kind = 0; kind < kCallKinds; ++kind) {
    const Row &row = rows_[kind];
    mine[kind][0] = row.served;
    mine[kind][1] = row.passedOn.load(std::memory_order_relaxed);
    mine[kind][2] = row.bytes;
  }
  real::Reduce(mine, sums, 3 * kCallKinds, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank = 0;
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t kind = 0; rank == 0 && kind < kCallKinds; ++kind)
    if (sums[kind][0] + sums[kind][1] > 0)
      std::fprintf(stderr,
                   "colldsl: %s: %" PRIu64 " served, %" PRIu64 " passed on, %" PRIu64
                   " bytes sent by those served\n",
                   kCallNames[kind], sums[kind][0], sums[kind][1], sums[kind][2]);
}

} // namespace colldsl::mpi
