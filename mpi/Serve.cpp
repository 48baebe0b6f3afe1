#include "mpi/Serve.h"

#include "ir/Concat.h"
#include "mpi/CheckCalls.h"
#include "mpi/JobBegin.h"

#include <chrono>

namespace colldsl::mpi {
namespace {

/// Counts a call that the MPI below must serve; returns false.
bool passOn(const Call &call, Reason reason = Reason::Other) {
  Summary::all().passedOn(call.kind, reason);
  return false;
}

/// The memory in which all ranks have their buffers of the call. Other, on all ranks, if a call may
/// have memory of devices and `mayWait` is false: the ranks cannot agree.
Result<CallMemory> memoryOf(ServedComm &served, const Call &call, bool mayWait) {
  if (!served.devices().mayUseDevices() || call.kind == CallKind::Barrier)
    return CallMemory::Host;
  if (!mayWait)
    return CallMemory::Other;
  Guard guard(served.job());
  return served.devices().agree(call);
}

/// Variant of memoryOf() for a call that is a run itself, which is counted here if this rank does
/// not begin it.
Result<CallMemory> memoryOfRun(ServedComm &served, const Call &call) {
  Result<CallMemory> memory = memoryOf(served, call, true);
  if (memory && *memory != CallMemory::Other)
    return memory;
  Guard guard(served.job());
  memory ? void(served.runs().next()) : served.skipRun(call.kind, memory.status());
  return memory;
}

/// True if all processes of the communicator are ranks of it, and if it has a topology when the
/// call needs one.
bool mayServe(MPI_Comm comm, CallKind kind) {
  int topology = MPI_UNDEFINED, isInter = 0;
  if (comm == MPI_COMM_NULL)
    return false;
  if (isAlongTopology(kind))
    return real::Topo_test(comm, &topology) == MPI_SUCCESS && topology != MPI_UNDEFINED;
  return real::Comm_test_inter(comm, &isInter) == MPI_SUCCESS && !isInter;
}

/// The record of a communicator. Null: the MPI below must serve the call.
CommRecord *recordFor(MPI_Comm comm, CallKind kind) {
  CommRecord *known = KnownComms::recordOf(comm);
  return known || !mayServe(comm, kind) ? known : &KnownComms::recordOrNew(comm);
}

/// For a call that may wait for all ranks: they agree where this is the first one that is served.
ServedComm *knownOrAdopted(Job &job, MPI_Comm comm, CallKind kind) {
  ServedComm *served = KnownComms::of(comm);
  if (served || !mayServe(comm, kind))
    return served;
  BackgroundProgress progress;
  return ServedComm::adopt(job, comm);
}

/// A whole run. The caller holds a Guard.
Status runOnce(ServedComm &served, Operation &operation) {
  operation.count();
  return operation.run(served.runs().next());
}

/// Variant of runOnce() that measures the time for the summary.
Status runTimed(ServedComm &served, Operation &operation) {
  operation.count();
  auto begin = std::chrono::steady_clock::now();
  Status outcome = operation.run(served.runs().next());
  std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
  Algorithm &algorithm = operation.algorithm();
  ++algorithm.timedRuns;
  algorithm.nanoseconds += static_cast<uint64_t>(time.count());
  return outcome;
}

/// The result of a call.
struct Outcome {
  Status status;
  WrongArgument wrong{}; ///< the reason of an error, if an argument is
  bool isServed = true;  ///< false: it is for the MPI below
};

int raiseFor(MPI_Comm comm, CallKind kind, const Outcome &outcome) {
  const Status &status = outcome.status;
  std::string text =
      outcome.wrong ? status.message() : concat(factsOf(kind).mpiName, ": ", status.message());
  return raise(comm, Status::error(status.kind(), std::move(text)), outcome.wrong.errorClass);
}

/// In the checking mode: true if the ranks call different things.
bool isRefused(MPI_Comm comm, const Call &call, int &code) {
  if (!Job::current() || !Settings::all().checksCalls())
    return false;
  Status alike = checkAlike(comm, call);
  if (!alike)
    code = raise(comm, alike);
  return !alike.ok();
}

/// True unless the MPI below is to serve the call for which that was made.
bool isServed(const MadeOperation &made, const WrongArgument &wrong) {
  return made ? *made != nullptr : !wrong.isRefusedBelow;
}

/// A whole run.
Status run(Job &job, ServedComm &served, CallMemory memory, const Call &call, Outcome &outcome) {
  Guard guard(job);
  MadeOperation made = served.operations(memory).find(call, outcome.wrong);
  outcome.isServed = isServed(made, outcome.wrong);
  if (!made) {
    served.skipRun(call.kind, made.status());
    if (served.learner() && memory == CallMemory::Host)
      served.learner()->countFailed(call, served.runs().last());
  }
  if (!made || !*made)
    return made.status();
  return Settings::all().wantsSummary() ? runTimed(served, **made) : runOnce(served, **made);
}

/// Starts a nonblocking call, or makes a persistent one.
Status start(Job &job, MPI_Comm comm, ServedComm &served, CallMemory memory, const Call &call,
             bool isPersistent, MPI_Request *request, Outcome &outcome) {
  Guard guard(job);
  if (!isPersistent)
    served.firstCalls().count(call);
  MadeOperation made = isPersistent ? served.persistentCalls().make(call, memory, outcome.wrong)
                                    : served.operations().find(call, outcome.wrong);
  outcome.isServed = isServed(made, outcome.wrong);
  if (!made && !isPersistent)
    served.skipRun(call.kind, made.status());
  if (made && *made)
    *request = isPersistent ? Requests::all().persistent(made.take(), comm)
                            : Requests::all().start(made.take(), comm, served.runs().next());
  return made.status();
}

// No exception reaches the program, not even std::bad_alloc when the reserve of memory is used up.
template <typename Body> Status guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status::error(ErrorKind::NoMemory, "no memory");
  }
}

} // namespace

bool runAgain(MPI_Comm comm, ServedComm &served, CallKind kind, int &code) {
  Operation *operation = nullptr;
  Status outcome = guarded([&] {
    Guard guard(served.job());
    operation = served.operations().idle(kind);
    return operation ? runOnce(served, *operation) : Status();
  });
  code = outcome ? MPI_SUCCESS : raiseFor(comm, kind, {outcome});
  return operation != nullptr;
}

bool startAgain(MPI_Comm comm, ServedComm &served, CallKind kind, MPI_Request *request) {
  Guard guard(served.job());
  if (!request || !served.servesNonblocking() || !served.operations().idle(kind))
    return false;
  *request = Requests::all().start(served.operations().last(kind), comm, served.runs().next());
  return true;
}

bool serve(MPI_Comm comm, const Call &call, int &code) {
  JobBegin::before(comm);
  if (isRefused(comm, call, code))
    return true;
  Job *job = Job::current();
  CommRecord *record =
      job && !Settings::all().isOff(call.kind) ? recordFor(comm, call.kind) : nullptr;
  if (!record || (record->firstCalls().count(call) && FirstCalls::mayPassOn(call)))
    return passOn(call);
  ServedComm *served = knownOrAdopted(*job, comm, call.kind);
  if (!served || !served->serves(call.kind))
    return passOn(call);
  Outcome outcome;
  Result<CallMemory> memory = memoryOfRun(*served, call);
  if (memory && *memory == CallMemory::Other)
    return passOn(call, Reason::Devices);
  outcome.status = memory ? guarded([&] { return run(*job, *served, *memory, call, outcome); })
                          : memory.status();
  if (!outcome.isServed)
    return passOn(call);
  code = outcome.status ? MPI_SUCCESS : raiseFor(comm, call.kind, outcome);
  return true;
}

bool serve(MPI_Comm comm, const Call &call, bool isPersistent, MPI_Request *request, int &code) {
  if (!request) {
    Call lacking = call;
    lacking.lacksRequest = true;
    MPI_Request none = MPI_REQUEST_NULL;
    return serve(comm, lacking, isPersistent, &none, code);
  }
  if (isPersistent)
    JobBegin::before(comm);
  if (isPersistent && isRefused(comm, call, code)) {
    *request = MPI_REQUEST_NULL;
    return true;
  }
  Job *job = Job::current();
  ServedComm *served = !job || Settings::all().isOff(call.kind) ? nullptr
                       : isPersistent ? knownOrAdopted(*job, comm, call.kind)
                                      : KnownComms::of(comm);
  if (!served || !served->serves(call.kind) || !served->servesNonblocking())
    return passOn(call);
  Result<CallMemory> memory = memoryOf(*served, call, isPersistent);
  if (memory && *memory == CallMemory::Other)
    return passOn(call, Reason::Devices);
  if (isPersistent && !isAlongTopology(call.kind)) {
    BackgroundProgress progress;
    served->contexts().keep(comm);
  }
  Outcome outcome;
  outcome.status = memory ? guarded([&] {
    return start(*job, comm, *served, *memory, call, isPersistent, request, outcome);
  })
                          : memory.status();
  if (!outcome.isServed)
    return passOn(call);
  if (!outcome.status)
    *request = MPI_REQUEST_NULL;
  code = outcome.status ? MPI_SUCCESS : raiseFor(comm, call.kind, outcome);
  return true;
}

} // namespace colldsl::mpi
