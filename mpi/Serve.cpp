#include "mpi/Serve.h"

#include "mpi/CheckCalls.h"
#include "mpi/Settings.h"
#include "mpi/Summary.h"

#include <chrono>

namespace colldsl::mpi {
namespace {

using Made = Result<std::shared_ptr<Operation>>;

/// Counts what the MPI below must do; false.
bool passOn(const Call &call, Reason reason = Reason::Other) {
  Summary::all().passedOn(call.kind, reason);
  return false;
}

/// A call that may have its buffers in memory of devices.
bool mayBeOnDevice(const ServedComm &served, CallKind kind) {
  return served.mayUseDevices() && kind != CallKind::Barrier;
}

/// Whether that is so for some rank, or cannot be found out: that is the outcome then.
bool isOnDevice(ServedComm &served, const Call &call, Status &outcome) {
  Guard guard(served.job());
  Result<bool> agreed = served.agreeOnDevices(call);
  if (!agreed)
    outcome = agreed.status();
  return !agreed || *agreed;
}

/// Whether all processes of the communicator are ranks of it, and it has a topology where the call
/// wants one.
bool mayServe(MPI_Comm comm, CallKind kind) {
  int topology = MPI_UNDEFINED, isInter = 0;
  if (comm == MPI_COMM_NULL)
    return false;
  if (isAlongTopology(kind))
    return real::Topo_test(comm, &topology) == MPI_SUCCESS && topology != MPI_UNDEFINED;
  return real::Comm_test_inter(comm, &isInter) == MPI_SUCCESS && !isInter;
}

/// For a blocking call: also one that came to be without our seeing it.
ServedComm *knownOrAdopted(Job &job, MPI_Comm comm, CallKind kind) {
  ServedComm *served = ServedComm::of(comm);
  return served || !mayServe(comm, kind) ? served : ServedComm::adopt(job, comm);
}

/// A whole run. The caller holds a Guard.
Status runOnce(ServedComm &served, Operation &operation) {
  operation.count();
  return operation.run(served.nextRun());
}

/// The same for the summary, which wants its time.
Status runTimed(ServedComm &served, Operation &operation) {
  operation.count();
  auto begin = std::chrono::steady_clock::now();
  Status outcome = operation.run(served.nextRun());
  std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
  Algorithm &algorithm = operation.algorithm();
  ++algorithm.timedRuns;
  algorithm.nanoseconds += static_cast<uint64_t>(time.count());
  return outcome;
}

/// A run that this rank has no operation for; others count it.
Status skipRun(ServedComm &served, const Status &why) {
  served.nextRun();
  return why;
}

/// The same of a blocking call.
Status skipRun(ServedComm &served, const Call &call, const Status &why) {
  uint32_t run = served.nextRun();
  if (served.learner())
    served.learner()->countFailed(call, run);
  return why;
}

/// In the checking mode: the ranks call different things.
bool isRefused(MPI_Comm comm, const Call &call, int &code) {
  if (!Job::current() || !Settings::all().checksCalls())
    return false;
  Status alike = checkAlike(comm, call);
  if (!alike)
    code = raise(comm, alike);
  return !alike.ok();
}

/// A whole run; false: it is for the MPI below.
bool run(Job &job, ServedComm &served, const Call &call, Status &outcome) {
  Guard guard(job);
  Made made = served.operationFor(call);
  if (!made)
    outcome = skipRun(served, call, made.status());
  else if (*made)
    outcome = Settings::all().wantsSummary() ? runTimed(served, **made) : runOnce(served, **made);
  return !made || *made;
}

} // namespace

bool runAgain(MPI_Comm comm, ServedComm &served, CallKind kind, int &code) {
  Operation *operation = nullptr;
  Status outcome = [&] {
    Guard guard(served.job());
    operation = served.idleOperation(kind);
    return operation ? runOnce(served, *operation) : Status();
  }();
  code = outcome ? MPI_SUCCESS : raise(comm, outcome);
  return operation != nullptr;
}

bool startAgain(MPI_Comm comm, ServedComm &served, CallKind kind, MPI_Request *request) {
  Guard guard(served.job());
  if (!served.idleOperation(kind))
    return false;
  *request = Requests::all().start(served.lastOperation(kind), comm, served.nextRun());
  return true;
}

bool serve(MPI_Comm comm, const Call &call, int &code) {
  if (isRefused(comm, call, code))
    return true;
  Job *job = Job::current();
  ServedComm *served =
      job && !Settings::all().isOff(call.kind) ? knownOrAdopted(*job, comm, call.kind) : nullptr;
  if (!served || !served->serves(call.kind))
    return passOn(call);
  Status outcome;
  if (served->countCall(call.kind) && ServedComm::isPlain(call))
    return passOn(call);
  if (mayBeOnDevice(*served, call.kind) && isOnDevice(*served, call, outcome)) {
    if (outcome)
      return passOn(call, Reason::Devices);
  } else if (!run(*job, *served, call, outcome)) {
    return passOn(call);
  }
  code = outcome ? MPI_SUCCESS : raise(comm, outcome);
  return true;
}

bool serve(MPI_Comm comm, const Call &call, bool isPersistent, MPI_Request *request, int &code) {
  if (!request)
    return passOn(call);
  if (isPersistent && isRefused(comm, call, code)) {
    *request = MPI_REQUEST_NULL;
    return true;
  }
  Job *job = Job::current();
  ServedComm *served = job && !Settings::all().isOff(call.kind) ? ServedComm::of(comm) : nullptr;
  if (!served || !served->serves(call.kind))
    return passOn(call);
  if (mayBeOnDevice(*served, call.kind))
    return passOn(call, Reason::Devices);
  if (isPersistent && !isAlongTopology(call.kind))
    served->keepContexts(comm);
  Guard guard(*job);
  if (!isPersistent)
    served->countCall(call.kind);
  Made made = isPersistent ? served->makePersistent(call) : served->operationFor(call);
  if (!made) {
    *request = MPI_REQUEST_NULL;
    code = raise(comm, isPersistent ? made.status() : skipRun(*served, made.status()));
    return true;
  }
  if (!*made)
    return passOn(call);
  code = MPI_SUCCESS;
  *request = isPersistent ? Requests::all().persistent(made.take(), comm)
                          : Requests::all().start(made.take(), comm, served->nextRun());
  return true;
}

Side uniform(const void *buffer, MPI_Count count, MPI_Datatype type) {
  Side side;
  side.buffer = const_cast<void *>(buffer);
  side.count = count;
  side.type = type;
  return side;
}

Side same(const void *buffer, MPI_Count count, MPI_Datatype type) {
  Side side = uniform(buffer, count, type);
  side.isSame = true;
  return side;
}

} // namespace colldsl::mpi
