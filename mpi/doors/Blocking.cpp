// Calls of the MPI below that wait. While an operation of ours is under way it moves in them, too:
// MPI asks for that.
#include "mpi/Doors.h"

using namespace colldsl::mpi;

namespace {

class Besides {
public:
  Besides() : job_(mustMove() ? Job::current() : nullptr) {
    if (job_)
      job_->beginMoving();
  }
  ~Besides() {
    if (job_)
      job_->endMoving();
  }
  Besides(const Besides &) = delete;
  Besides &operator=(const Besides &) = delete;

private:
  Job *job_;
};

} // namespace

// Between ranks both forms match each other.
#define MOVING(name, nonblocking, parameters, ...)                                                 \
  COLLDSL_DOOR(name, parameters) {                                                                 \
    if (!mustMove())                                                                               \
      return real::name(__VA_ARGS__);                                                              \
    MPI_Request request = MPI_REQUEST_NULL;                                                        \
    int code = real::nonblocking(__VA_ARGS__, &request);                                           \
    return code == MPI_SUCCESS ? waitBelow(&request, MPI_STATUS_IGNORE) : code;                    \
  }

// Of collectives they do not: a thread moves what is ours meanwhile.
#define BESIDES(name, parameters, ...)                                                             \
  COLLDSL_DOOR(name, parameters) {                                                                 \
    Besides besides;                                                                               \
    return real::name(__VA_ARGS__);                                                                \
  }

#define SEND (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
MOVING(Send, Isend, SEND, buf, n, type, to, tag, comm)
MOVING(Ssend, Issend, SEND, buf, n, type, to, tag, comm)
MOVING(Rsend, Irsend, SEND, buf, n, type, to, tag, comm)

BESIDES(Barrier, (MPI_Comm comm), comm)
BESIDES(Bcast, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm), buf, n, type, root,
        comm)

#define GATHER                                                                                     \
  (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype, int root, \
   MPI_Comm comm)
BESIDES(Gather, GATHER, sbuf, sn, stype, rbuf, rn, rtype, root, comm)
BESIDES(Scatter, GATHER, sbuf, sn, stype, rbuf, rn, rtype, root, comm)
BESIDES(Gatherv,
        (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, const int rns[],
         const int displs[], MPI_Datatype rtype, int root, MPI_Comm comm),
        sbuf, sn, stype, rbuf, rns, displs, rtype, root, comm)
BESIDES(Scatterv,
        (const void *sbuf, const int sns[], const int displs[], MPI_Datatype stype, void *rbuf,
         int rn, MPI_Datatype rtype, int root, MPI_Comm comm),
        sbuf, sns, displs, stype, rbuf, rn, rtype, root, comm)

#define ALL                                                                                        \
  (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, int rn, MPI_Datatype rtype,           \
   MPI_Comm comm)
BESIDES(Allgather, ALL, sbuf, sn, stype, rbuf, rn, rtype, comm)
BESIDES(Alltoall, ALL, sbuf, sn, stype, rbuf, rn, rtype, comm)
BESIDES(Allgatherv,
        (const void *sbuf, int sn, MPI_Datatype stype, void *rbuf, const int rns[],
         const int displs[], MPI_Datatype rtype, MPI_Comm comm),
        sbuf, sn, stype, rbuf, rns, displs, rtype, comm)
BESIDES(Alltoallv,
        (const void *sbuf, const int sns[], const int sdispls[], MPI_Datatype stype, void *rbuf,
         const int rns[], const int rdispls[], MPI_Datatype rtype, MPI_Comm comm),
        sbuf, sns, sdispls, stype, rbuf, rns, rdispls, rtype, comm)
BESIDES(Alltoallw,
        (const void *sbuf, const int sns[], const int sdispls[], const MPI_Datatype stypes[],
         void *rbuf, const int rns[], const int rdispls[], const MPI_Datatype rtypes[],
         MPI_Comm comm),
        sbuf, sns, sdispls, stypes, rbuf, rns, rdispls, rtypes, comm)

#define REDUCE (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
BESIDES(Allreduce, REDUCE, sbuf, rbuf, n, type, op, comm)
BESIDES(Scan, REDUCE, sbuf, rbuf, n, type, op, comm)
BESIDES(Exscan, REDUCE, sbuf, rbuf, n, type, op, comm)
BESIDES(Reduce_scatter_block, REDUCE, sbuf, rbuf, n, type, op, comm)
BESIDES(Reduce,
        (const void *sbuf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm),
        sbuf, rbuf, n, type, op, root, comm)
BESIDES(Reduce_scatter,
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
