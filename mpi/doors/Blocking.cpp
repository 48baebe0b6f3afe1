// Calls of the MPI below that wait. While an operation of ours is under way they are served by
// their forms that do not, so that it moves: MPI asks for that.
#include "mpi/Doors.h"

using namespace colldsl::mpi;

#define MOVING(name, nonblocking, parameters, ...)                                                 \
  COLLDSL_DOOR(name, parameters) {                                                                 \
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

MOVING(Barrier, Ibarrier, (MPI_Comm comm), comm)
MOVING(Bcast, Ibcast, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm), buf, n, type,
       root, comm)

#define GATHER                                                                                     \
  (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype, int root, \
   MPI_Comm comm)
MOVING(Gather, Igather, GATHER, sbuf, sn, stype, rbuf, rn, rtype, root, comm)
MOVING(Scatter, Iscatter, GATHER, sbuf, sn, stype, rbuf, rn, rtype, root, comm)
MOVING(Gatherv, Igatherv,
       (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, const int rns[],
        const int displs[], MPI_Datatype rtype, int root, MPI_Comm comm),
       sbuf, sn, stype, rbuf, rns, displs, rtype, root, comm)
MOVING(Scatterv, Iscatterv,
       (const void *sbuf, const int sns[], const int displs[], MPI_Datatype stype, void *rbuf,
        int rn, MPI_Datatype rtype, int root, MPI_Comm comm),
       sbuf, sns, displs, stype, rbuf, rn, rtype, root, comm)

#define ALL                                                                                        \
  (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype,           \
   MPI_Comm comm)
MOVING(Allgather, Iallgather, ALL, sbuf, sn, stype, rbuf, rn, rtype, comm)
MOVING(Alltoall, Ialltoall, ALL, sbuf, sn, stype, rbuf, rn, rtype, comm)
MOVING(Allgatherv, Iallgatherv,
       (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, const int rns[],
        const int displs[], MPI_Datatype rtype, MPI_Comm comm),
       sbuf, sn, stype, rbuf, rns, displs, rtype, comm)
MOVING(Alltoallv, Ialltoallv,
       (const void *sbuf, const int sns[], const int sdispls[], MPI_Datatype stype, void *rbuf,
        const int rns[], const int rdispls[], MPI_Datatype rtype, MPI_Comm comm),
       sbuf, sns, sdispls, stype, rbuf, rns, rdispls, rtype, comm)
MOVING(Alltoallw, Ialltoallw,
       (const void *sbuf, const int sns[], const int sdispls[], const MPI_Datatype stypes[],
        void *rbuf, const int rns[], const int rdispls[], const MPI_Datatype rtypes[],
        MPI_Comm comm),
       sbuf, sns, sdispls, stypes, rbuf, rns, rdispls, rtypes, comm)

#define REDUCE (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
MOVING(Allreduce, Iallreduce, REDUCE, sbuf, rbuf, n, type, op, comm)
MOVING(Scan, Iscan, REDUCE, sbuf, rbuf, n, type, op, comm)
MOVING(Exscan, Iexscan, REDUCE, sbuf, rbuf, n, type, op, comm)
MOVING(Reduce_scatter_block, Ireduce_scatter_block, REDUCE, sbuf, rbuf, n, type, op, comm)
MOVING(Reduce, Ireduce,
       (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
       sbuf, rbuf, n, type, op, root, comm)
MOVING(Reduce_scatter, Ireduce_scatter,
       (const void *sbuf, void *rbuf, const int ns[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       sbuf, rbuf, ns, type, op, comm)

COLLDSL_DOOR(Recv, (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Status *status)) {
  if (!mustMove())
    return real::Recv(buf, n, type, from, tag, comm, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Irecv(buf, n, type, from, tag, comm, &request);
  return code == MPI_SUCCESS ? waitBelow(&request, status) : code;
}

COLLDSL_DOOR(Sendrecv,
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

COLLDSL_DOOR(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status)) {
  if (!mustMove())
    return real::Probe(from, tag, comm, status);
  return repeatBelow([&](int &isDone) { return real::Iprobe(from, tag, comm, &isDone, status); });
}

COLLDSL_DOOR(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)) {
  if (!mustMove())
    return real::Mprobe(from, tag, comm, message, status);
  return repeatBelow(
      [&](int &isDone) { return real::Improbe(from, tag, comm, &isDone, message, status); });
}

COLLDSL_DOOR(Mrecv,
             (void *buf, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status)) {
  if (!mustMove())
    return real::Mrecv(buf, n, type, message, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = real::Imrecv(buf, n, type, message, &request);
  return code == MPI_SUCCESS ? waitBelow(&request, status) : code;
}
