#include "mpi/Doors.h"

namespace colldsl::mpi {

int raise(MPI_Comm comm, const Status &status) {
  bool isMismatch = status.message().find("arrived where") != std::string::npos;
  int code = isMismatch ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
  real::Comm_call_errhandler(comm, code);
  return code;
}

int waitBelow(MPI_Request *request, MPI_Status *status) {
  return repeatBelow([&](int &isDone) { return real::Test(request, &isDone, status); });
}

void clear(MPI_Status *status) {
  if (status == MPI_STATUS_IGNORE)
    return;
  static const MPI_Status empty = [] {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status made = {};
    real::Wait(&none, &made);
    return made;
  }();
  int error = status->MPI_ERROR; // calls for one request leave it alone
  *status = empty;
  status->MPI_ERROR = error;
}

} // namespace colldsl::mpi
