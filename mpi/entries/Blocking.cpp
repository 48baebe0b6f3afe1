// Messages between two ranks. An operation of this library that is under way moves in these calls,
// as MPI requires.
#include "mpi/EntryPoints.h"

using namespace colldsl::mpi;

namespace {

/// Makes a call of the MPI below by its nonblocking form: between ranks both match each other.
template <typename... Parameters, typename... Passed>
int startAndWait(int (*start)(Parameters...), MPI_Status *status, Passed... passed) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = start(passed..., &request);
  return code == MPI_SUCCESS ? waitBelow(&request, status) : code;
}

} // namespace

// `suffix` is _c for counts of MPI_Count, or nothing.
#define MOVING(name, nonblocking, N)                                                               \
  COLLDSL_ENTRY(name, (const void *buf, N n, MPI_Datatype type, int to, int tag, MPI_Comm comm)) { \
    return !mayMove() ? real::name(buf, n, type, to, tag, comm) : aside([=] {                      \
      return mustMove()                                                                            \
                 ? startAndWait(real::nonblocking, MPI_STATUS_IGNORE, buf, n, type, to, tag, comm) \
                 : callBelow(real::name, buf, n, type, to, tag, comm);                             \
    });                                                                                            \
  }

#define MESSAGES(suffix, N)                                                                        \
  MOVING(Send##suffix, Isend##suffix, N)                                                           \
  MOVING(Ssend##suffix, Issend##suffix, N)                                                         \
  MOVING(Rsend##suffix, Irsend##suffix, N)                                                         \
  COLLDSL_ENTRY(Recv##suffix, (void *buf, N n, MPI_Datatype type, int from, int tag,               \
                               MPI_Comm comm, MPI_Status *status)) {                               \
    return !mayMove() ? real::Recv##suffix(buf, n, type, from, tag, comm, status) : aside([=] {    \
      return mustMove() ? startAndWait(real::Irecv##suffix, status, buf, n, type, from, tag, comm) \
                        : callBelow(real::Recv##suffix, buf, n, type, from, tag, comm, status);    \
    });                                                                                            \
  }                                                                                                \
  COLLDSL_ENTRY(Sendrecv##suffix,                                                                  \
                (const void *sbuf, N sn, MPI_Datatype stype, int to, int stag, void *rbuf, N rn,   \
                 MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status *status)) {     \
    if (!mustMove())                                                                               \
      return callBelow(real::Sendrecv##suffix, sbuf, sn, stype, to, stag, rbuf, rn, rtype, from,   \
                       rtag, comm, status);                                                        \
    MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;                              \
    int code = real::Irecv##suffix(rbuf, rn, rtype, from, rtag, comm, &received);                  \
    if (code == MPI_SUCCESS)                                                                       \
      code = real::Isend##suffix(sbuf, sn, stype, to, stag, comm, &sent);                          \
    if (code == MPI_SUCCESS)                                                                       \
      code = waitBelow(&sent, MPI_STATUS_IGNORE);                                                  \
    return code == MPI_SUCCESS ? waitBelow(&received, status) : code;                              \
  }                                                                                                \
  COLLDSL_ENTRY(Mrecv##suffix,                                                                     \
                (void *buf, N n, MPI_Datatype type, MPI_Message *message, MPI_Status *status)) {   \
    return mustMove() ? startAndWait(real::Imrecv##suffix, status, buf, n, type, message)          \
                      : callBelow(real::Mrecv##suffix, buf, n, type, message, status);             \
  }

MESSAGES(, int)
#ifdef COLLDSL_MPI_LARGE_COUNTS
MESSAGES(_c, MPI_Count)
#endif

COLLDSL_ENTRY(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status)) {
  if (!mustMove())
    return callBelow(real::Probe, from, tag, comm, status);
  return repeatBelow([&](int &isDone) { return real::Iprobe(from, tag, comm, &isDone, status); });
}

COLLDSL_ENTRY(Mprobe,
              (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)) {
  if (!mustMove())
    return callBelow(real::Mprobe, from, tag, comm, message, status);
  return repeatBelow(
      [&](int &isDone) { return real::Improbe(from, tag, comm, &isDone, message, status); });
}
