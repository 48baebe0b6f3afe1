#include "mpi/EntryPoints.h"

#include "mpi/PrintMessage.h"
#include "mpi/Settings.h"
#include "mpi/comm/FreedComms.h"

#include <chrono>
#include <thread>

namespace colldsl::mpi {

namespace {

int classOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Truncated:
    return MPI_ERR_TRUNCATE;
  case ErrorKind::NoMemory:
    return MPI_ERR_NO_MEM;
  case ErrorKind::Overlap:
  case ErrorKind::DeviceMemory:
    return MPI_ERR_BUFFER;
  case ErrorKind::RankDied: // MPI has no class for it
  case ErrorKind::Refused:
  case ErrorKind::TimedOut:
  case ErrorKind::NotProved:
  case ErrorKind::Other:
    return MPI_ERR_OTHER;
  }
  __builtin_unreachable();
}

bool isFatal(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (real::Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
    return false;
  bool ends = handler == MPI_ERRORS_ARE_FATAL;
  real::Errhandler_free(&handler);
  return ends;
}

// A dead rank ends the whole job anyway, and the launcher must see the exit status of that rank. So
// the launcher gets the time to notice it, and to end the others, before this rank ends itself.
constexpr std::chrono::milliseconds kLauncherDelay{500};

/// A communicator of this process alone, with another one's error handler.
class ErrorsOf {
public:
  explicit ErrorsOf(MPI_Errhandler handler) {
    real::Comm_dup(MPI_COMM_SELF, &comm_);
    real::Comm_set_errhandler(comm_, handler);
  }
  ~ErrorsOf() { real::Comm_free(&comm_); }
  ErrorsOf(const ErrorsOf &) = delete;
  ErrorsOf &operator=(const ErrorsOf &) = delete;
  MPI_Comm comm() const { return comm_; }

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

} // namespace

// MPI's errors have only a class. An MPI that ends the job prints a line that names
// MPI_Comm_call_errhandler; a line with the reason is printed before it.
int raise(MPI_Comm comm, const Status &status, int errorClass) {
  int code = errorClass != MPI_SUCCESS ? errorClass : classOf(status.kind()), rank = 0;
  bool endsJob = isFatal(comm);
  if (endsJob && status.kind() == ErrorKind::RankDied)
    std::this_thread::sleep_for(kLauncherDelay);
  real::Comm_rank(MPI_COMM_WORLD, &rank);
  if (Settings::all().isVerbose() || endsJob)
    printMessage("colldsl: rank %d: %s\n", rank, status.message().c_str());
  real::Comm_call_errhandler(comm, code);
  return code;
}

int raise(MPI_Comm comm, uint64_t since, const Status &status) {
  std::optional<MPI_Errhandler> handler = FreedComms::all().handlerOf(comm, since);
  if (!handler)
    return raise(comm, status);
  ErrorsOf standIn(*handler);
  return raise(standIn.comm(), status);
}

// Most sends are over when they begin.
int waitBelow(MPI_Request *request, MPI_Status *status) {
  int isDone = 0, code = real::Test(request, &isDone, status);
  if (isDone || code != MPI_SUCCESS)
    return code;
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
