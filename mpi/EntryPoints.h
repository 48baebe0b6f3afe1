/// What the entries have in common. An entry is exported under two names: programs in C call
/// MPI_X, Fortran bindings of some MPIs PMPI_X.
#pragma once

#include "mpi/Job.h"
#include "mpi/Real.h"
#include "mpi/Requests.h"
#include "mpi/ServedComm.h"

/// Opens the definition of MPI_name(parameters), which PMPI_name is as well.
#define COLLDSL_ENTRY(name, parameters)                                                            \
  extern "C"                                                                                       \
      __attribute__((visibility("default"), alias("MPI_" #name))) int PMPI_##name parameters;      \
  extern "C" __attribute__((visibility("default"))) int MPI_##name parameters

namespace colldsl::mpi {

/// Calls the communicator's error handler; returns the result of the entry. `errorClass`: what the
/// kind of the status has no class for.
int raise(MPI_Comm comm, const Status &status, int errorClass = MPI_SUCCESS);
/// The same for an operation that was started when the communicator had this handle: it may have
/// been freed since.
int raise(MPI_Comm comm, uint64_t since, const Status &status);

/// Whether operations of ours are under way, which must move while this rank waits in other calls.
inline bool mustMove() { return Job::current() && Requests::anyRunning(); }

/// Around a call of the MPI below that waits and has no other form: what is ours moves meanwhile.
class BackgroundProgress {
public:
  BackgroundProgress() : job_(mustMove() ? Job::current() : nullptr) {
    if (job_)
      job_->beginBackgroundProgress();
  }
  ~BackgroundProgress() {
    if (job_)
      job_->endBackgroundProgress();
  }
  BackgroundProgress(const BackgroundProgress &) = delete;
  BackgroundProgress &operator=(const BackgroundProgress &) = delete;

private:
  Job *job_;
};

/// Calls tryOnce(isDone) again and again, while everything moves, until it is done or fails;
/// onDeath returns the code when a rank died.
template <typename Try, typename OnDeath> int repeatBelow(Try tryOnce, OnDeath onDeath) {
  Job &job = *Job::current();
  Guard guard(job);
  int code = MPI_SUCCESS;
  Status s = job.waitUntil([&] {
    int isDone = 0;
    code = tryOnce(isDone);
    return isDone || code != MPI_SUCCESS;
  });
  return s ? code : onDeath(s);
}

template <typename Try> int repeatBelow(Try tryOnce) {
  return repeatBelow(tryOnce, [](const Status &why) { return raise(MPI_COMM_WORLD, why); });
}

/// Waits for a request of the MPI below while ours move.
int waitBelow(MPI_Request *request, MPI_Status *status);

/// The status of an operation that is none, or a collective.
void clear(MPI_Status *status);

} // namespace colldsl::mpi
