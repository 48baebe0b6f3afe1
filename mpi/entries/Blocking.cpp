// Messages between two ranks. While an operation of ours is under way it moves in them, too: MPI
// requires that.
#include "mpi/EntryPoints.h"

using namespace colldsl::mpi;

// Between ranks both forms match each other.
#define MOVING(name, nonblocking, parameters, ...)                                                 \
  COLLDSL_ENTRY(name, parameters) {                                                                \
    if (!mustMove())                                                                               \
      return real::name(__VA_ARGS__);                                                              \
    MPI_Request request = MPI_REQUEST_NULL;                                                        \
    int code = real::nonblocking(__VA_ARGS__, &request);                                           \
    return code == MPI_SUCCESS ? waitBelow(&request, MPI_STATUS_IGNORE) : code;                    \
  }

#define SEND (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
MOVING(Send, Isend, SEND, buf, n, type, to, tag, comm)
MOVING(Ssend, Issend, SEND, buf, n, type, to, tag, comm)
MOVING(Rsend, Irsend, SEND, buf, n, type, to, tag, comm)

COLLDSL_ENTRY(Recv, (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Status *status)) {
  if (!mustMove())
    return real::Recv(buf, n, type, from, tag, comm, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Irecv(buf, n, type, from, tag, comm, &request);
  return code == MPI_SUCCESS ? waitBelow(&request, status) : code;
}

COLLDSL_ENTRY(Sendrecv,
              (const void *sbuf, int sn, MPI_Datatype stype, int to, int stag, void *rbuf, int rn,
               MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status *status)) {
  if (!mustMove())
    return real::Sendrecv(sbuf, sn, stype, to, stag, rbuf, rn, rtype, from, rtag, comm, status);
  MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
  int code = real::Irecv(rbuf, rn, rtype, from, rtag, comm, &received);
  if (code == MPI_SUCCESS)
    code = real::Isend(sbuf, sn, stype, to, stag, comm, &sent);
  if (code == MPI_SUCCESS)
    code = waitBelow(&sent, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? waitBelow(&received, status) : code;
}

COLLDSL_ENTRY(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status)) {
  if (!mustMove())
    return real::Probe(from, tag, comm, status);
  return repeatBelow([&](int &isDone) { return real::Iprobe(from, tag, comm, &isDone, status); });
}

COLLDSL_ENTRY(Mprobe,
              (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)) {
  if (!mustMove())
    return real::Mprobe(from, tag, comm, message, status);
  return repeatBelow(
      [&](int &isDone) { return real::Improbe(from, tag, comm, &isDone, message, status); });
}

COLLDSL_ENTRY(Mrecv,
              (void *buf, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status)) {
  if (!mustMove())
    return real::Mrecv(buf, n, type, message, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Imrecv(buf, n, type, message, &request);
  return code == MPI_SUCCESS ? waitBelow(&request, status) : code;
}
