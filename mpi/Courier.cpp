#include "mpi/Courier.h"

#include "mpi/Real.h"

namespace colldsl::mpi {

Courier::Courier(MPI_Comm world) {
  isFine(real::Comm_dup(world, &comm_), "MPI_Comm_dup");
  isFine(real::Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Courier::~Courier() { real::Comm_free(&comm_); }

// The first failure counts.
bool Courier::isFine(int code, const char *function) {
  if (status_ && code != MPI_SUCCESS)
    status_ = mpiStatus(code, function);
  return code == MPI_SUCCESS;
}

// What was promised is gone before the barrier.
void Courier::leave() {
  isLeaving_ = true;
  while (status_ && isBusy())
    poll();
  MPI_Request all = MPI_REQUEST_NULL;
  int isThere = !status_ || !isFine(real::Ibarrier(comm_, &all), "MPI_Ibarrier");
  while (!isThere) {
    poll();
    isThere = !isFine(real::Test(&all, &isThere, MPI_STATUS_IGNORE), "MPI_Test") || isThere;
  }
}

} // namespace colldsl::mpi
