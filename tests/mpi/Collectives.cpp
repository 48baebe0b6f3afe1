#include "tests/mpi/Collectives.h"

#include "mpi/Mpi.h"

namespace conformance {
namespace {

// Name as MPI spells it, name in lower case, arguments.
#define COLLECTIVES(X)                                                                             \
  X(Barrier, barrier, comm)                                                                        \
  X(Reduce, reduce, s.buffer, r.buffer, rc[0], r.types[0], a.op, a.root, comm)                     \
  X(Allreduce, allreduce, s.buffer, r.buffer, rc[0], r.types[0], a.op, comm)                       \
  X(Reduce_scatter, reduce_scatter, s.buffer, r.buffer, rc, r.types[0], a.op, comm)                \
  X(Reduce_scatter_block, reduce_scatter_block, s.buffer, r.buffer, rc[0], r.types[0], a.op, comm) \
  X(Scan, scan, s.buffer, r.buffer, rc[0], r.types[0], a.op, comm)                                 \
  X(Exscan, exscan, s.buffer, r.buffer, rc[0], r.types[0], a.op, comm)                             \
  X(Bcast, bcast, s.buffer, sc[0], s.types[0], a.root, comm)                                       \
  X(Gather, gather, s.buffer, sc[0], s.types[0], r.buffer, rc[0], r.types[0], a.root, comm)        \
  X(Gatherv, gatherv, s.buffer, sc[0], s.types[0], r.buffer, rc, rd, r.types[0], a.root, comm)     \
  X(Scatter, scatter, s.buffer, sc[0], s.types[0], r.buffer, rc[0], r.types[0], a.root, comm)      \
  X(Scatterv, scatterv, s.buffer, sc, sd, s.types[0], r.buffer, rc[0], r.types[0], a.root, comm)   \
  X(Allgather, allgather, s.buffer, sc[0], s.types[0], r.buffer, rc[0], r.types[0], comm)          \
  X(Allgatherv, allgatherv, s.buffer, sc[0], s.types[0], r.buffer, rc, rd, r.types[0], comm)       \
  X(Alltoall, alltoall, s.buffer, sc[0], s.types[0], r.buffer, rc[0], r.types[0], comm)            \
  X(Alltoallv, alltoallv, s.buffer, sc, sd, s.types[0], r.buffer, rc, rd, r.types[0], comm)        \
  X(Alltoallw, alltoallw, s.buffer, sc, sb, s.types.data(), r.buffer, rc, rb, r.types.data(), comm)

// What the arguments above are called.
#define NAME_ARGUMENTS(arrays)                                                                     \
  const CollectiveArguments &a = arguments_;                                                       \
  const SideArguments &s = a.send, &r = a.recv;                                                    \
  const auto *sc = arrays.sendCounts.data(), *rc = arrays.recvCounts.data();                       \
  const auto *sd = arrays.sendPlaces.data(), *rd = arrays.recvPlaces.data();                       \
  const auto *sb = arrays.sendBytes.data(), *rb = arrays.recvBytes.data();                         \
  MPI_Comm comm = a.comm

struct Spelling {
  const char *blocking, *nonblocking, *persistent;
};

Spelling spelling(Collective collective) {
  switch (collective) {
#define X(Name, name, ...)                                                                         \
  case Collective::Name:                                                                           \
    return {"MPI_" #Name, "MPI_I" #name, "MPI_" #Name "_init"};
    COLLECTIVES(X)
#undef X
  }
  return {};
}

} // namespace

std::string spell(const CollectiveForm &form) {
  Spelling all = spelling(form.collective);
  const char *name = form.form == Form::Blocking      ? all.blocking
                     : form.form == Form::Nonblocking ? all.nonblocking
                                                      : all.persistent;
  return std::string(name) + (form.large ? "_c" : "");
}

template <typename Count, typename Place>
CollectiveCall::Arrays<Count, Place>::Arrays(const CollectiveArguments &a)
    : sendCounts(a.send.counts.begin(), a.send.counts.end()),
      recvCounts(a.recv.counts.begin(), a.recv.counts.end()),
      sendPlaces(a.send.displacements.begin(), a.send.displacements.end()),
      recvPlaces(a.recv.displacements.begin(), a.recv.displacements.end()),
      sendBytes(a.send.byteDisplacements.begin(), a.send.byteDisplacements.end()),
      recvBytes(a.recv.byteDisplacements.begin(), a.recv.byteDisplacements.end()) {}

CollectiveCall::CollectiveCall(const CollectiveForm &form, CollectiveArguments arguments)
    : form_(form), arguments_(std::move(arguments)), ints_(arguments_), larges_(arguments_) {}

StartedCall::~StartedCall() {
  if (persistent_ != MPI_REQUEST_NULL)
    MPI_Request_free(&persistent_);
}

void StartedCall::initialize(const CollectiveForm &form, CollectiveArguments arguments,
                             const std::string &label, Report &report) {
  if (form.form == Form::Persistent && !call_)
    persistent_ = make(form, std::move(arguments), label, report);
}

MPI_Request StartedCall::start(const CollectiveForm &form, CollectiveArguments arguments,
                               const std::string &label, Report &report) {
  if (form.form != Form::Persistent)
    return make(form, std::move(arguments), label, report);
  report.expectSuccess(MPI_Start(&persistent_), label);
  return persistent_;
}

MPI_Request StartedCall::make(const CollectiveForm &form, CollectiveArguments arguments,
                              const std::string &label, Report &report) {
  CollectiveCall made(form, std::move(arguments));
  bool isReused = reused_ && form.form != Form::Persistent;
  // A copy keeps the addresses of the arrays, and has other contents.
  CollectiveCall &call = isReused ? *reused_ = made : call_.emplace(std::move(made));
  MPI_Request request = MPI_REQUEST_NULL;
  report.expectSuccess(call.make(&request), label);
  return request;
}

int CollectiveCall::make(MPI_Request *request) {
  return form_.large ? makeLarge(request) : makeSmall(request);
}

// A call in the form that is asked for.
#define CALL(Name, name, suffix, ...)                                                              \
  switch (form_.form) {                                                                            \
  case Form::Blocking:                                                                             \
    return MPI_##Name##suffix(__VA_ARGS__);                                                        \
  case Form::Nonblocking:                                                                          \
    return MPI_I##name##suffix(__VA_ARGS__, request);                                              \
  case Form::Persistent:                                                                           \
    return PERSISTENT(Name##_init##suffix)(__VA_ARGS__, MPI_INFO_NULL, request);                   \
  }                                                                                                \
  return MPI_ERR_OTHER
#define PERSISTENT(name) COLLDSL_MPI_PERSISTENT(name)

int CollectiveCall::makeSmall(MPI_Request *request) {
  NAME_ARGUMENTS(ints_);
  switch (form_.collective) {
#define X(Name, name, ...)                                                                         \
  case Collective::Name:                                                                           \
    CALL(Name, name, , __VA_ARGS__);
    COLLECTIVES(X)
#undef X
  }
  return MPI_ERR_OTHER;
}

#ifdef COLLDSL_MPI_LARGE_COUNTS
bool hasLargeCollectives() { return true; }

// Nothing of a barrier is counted.
#define MPI_Barrier_c MPI_Barrier
#define MPI_Ibarrier_c MPI_Ibarrier
#define MPI_Barrier_init_c MPI_Barrier_init

int CollectiveCall::makeLarge(MPI_Request *request) {
  NAME_ARGUMENTS(larges_);
  switch (form_.collective) {
#define X(Name, name, ...)                                                                         \
  case Collective::Name:                                                                           \
    CALL(Name, name, _c, __VA_ARGS__);
    COLLECTIVES(X)
#undef X
  }
  return MPI_ERR_OTHER;
}
#else
bool hasLargeCollectives() { return false; }

int CollectiveCall::makeLarge(MPI_Request *) { return MPI_ERR_OTHER; }
#endif

} // namespace conformance
