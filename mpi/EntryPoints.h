/// Functions that all entries share. An entry is exported under two names: programs in C call
/// MPI_X, Fortran bindings of some MPIs PMPI_X.
#pragma once

#include "mpi/Job.h"
#include "mpi/Real.h"
#include "mpi/comm/ServedComm.h"
#include "mpi/operations/Requests.h"

#include <tuple>

/// Opens the definition of MPI_name(parameters), which PMPI_name is as well.
#define COLLDSL_ENTRY(name, parameters)                                                            \
  extern "C"                                                                                       \
      __attribute__((visibility("default"), alias("MPI_" #name))) int PMPI_##name parameters;      \
  extern "C" __attribute__((visibility("default"))) int MPI_##name parameters

namespace colldsl::mpi {

/// Calls the communicator's error handler; returns the result of the entry. `errorClass`: used if
/// the kind of the status has no class.
int raise(MPI_Comm comm, const Status &status, int errorClass = MPI_SUCCESS);
/// Variant of raise() for an operation that was started when the communicator had this handle: the
/// communicator may have been freed since.
int raise(MPI_Comm comm, uint64_t since, const Status &status);

/// The type of a parameter of a function of MPI, as its mpi.h has it: in some versions a list is
/// const, or a count longer.
template <typename Function, size_t i> struct ParameterOf;
template <typename Result, typename... Parameters, size_t i>
struct ParameterOf<Result(Parameters...), i> {
  using Type = std::tuple_element_t<i, std::tuple<Parameters...>>;
};
template <typename Function, size_t i> using Parameter = ParameterOf<Function, i>::Type;

/// True if operations of this library are under way, which must move while this rank waits in other
/// calls.
inline bool mustMove() { return !Requests::mayPassOn() && Requests::anyRunning(); }

/// Variant of mustMove() that is also true if another thread may start an operation meanwhile.
inline bool mayMove() {
  return !Requests::mayPassOn() && (Requests::anyRunning() || Requests::anyThreadMayStart());
}

/// Serves a call, out of line: the call of a program that has no requests of ours, which comes
/// before it, then saves no registers.
template <typename Body> [[gnu::noinline]] int aside(Body body) { return body(); }

/// Lives around a call of the MPI below that may wait: operations of this library move meanwhile.
class BackgroundProgress {
public:
  BackgroundProgress() : job_(mayMove() ? Job::current() : nullptr) {
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

/// Makes a call of the MPI below that may wait.
template <typename... Parameters, typename... Passed>
[[gnu::always_inline]] inline int callBelow(int (*function)(Parameters...), Passed... passed) {
  return !mayMove() ? function(passed...) : aside([=] {
    BackgroundProgress progress;
    return function(passed...);
  });
}

/// Moves all operations under way, before a call that returns at once. An error: a rank died.
inline Status moveOnce() { return mustMove() ? Job::current()->moveOnce() : Status(); }

/// Makes a call that returns at once, and that programs make again and again. The call that waits
/// for an operation reports its error.
template <typename... Parameters, typename... Passed>
[[gnu::always_inline]] inline int pollBelow(int (*function)(Parameters...), Passed... passed) {
  return !mustMove() ? function(passed...) : aside([=] {
    (void)moveOnce();
    return function(passed...);
  });
}

/// Repeats tryOnce(isDone), while everything moves, until it is done or fails; onDeath returns the
/// code when a rank died.
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

/// Waits for a request of the MPI below while operations of this library move.
int waitBelow(MPI_Request *request, MPI_Status *status);

/// Sets the status that MPI defines for an inactive request, and for a collective.
void clear(MPI_Status *status);

} // namespace colldsl::mpi
