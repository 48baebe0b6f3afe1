#include "tests/mpi/Beside.h"

namespace conformance {

Message::Message(MPI_Comm comm, int tag, bool persistent, int value) : persistent_(persistent) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  from_ = (rank + size - 1) % size;
  to_ = (rank + 1) % size;
  tag_ = tag;
  out_ = value + rank;
  expected_ = value + from_;
  if (persistent) {
    MPI_Recv_init(&in_, 1, MPI_INT, from_, tag, comm, &requests_[0]);
    MPI_Send_init(&out_, 1, MPI_INT, to_, tag, comm, &requests_[1]);
    MPI_Startall(2, requests_);
  } else {
    MPI_Irecv(&in_, 1, MPI_INT, from_, tag, comm, &requests_[0]);
    MPI_Isend(&out_, 1, MPI_INT, to_, tag, comm, &requests_[1]);
  }
}

Message::~Message() {
  if (persistent_)
    for (MPI_Request &request : requests_)
      MPI_Request_free(&request);
}

void Message::board(Flight &flight, Report &report) {
  flight.add(requests_[0], persistent_, [this, &report](const MPI_Status *s) {
    report.expect(in_ == expected_, "a message beside", "wrong data");
    report.expect(!s || (s->MPI_SOURCE == from_ && s->MPI_TAG == tag_), "a message beside",
                  "wrong status");
  });
  flight.add(requests_[1], persistent_, [](const MPI_Status *) {});
}

namespace {

constexpr int kTag = 2000;

void waitInside(int method, MPI_Comm comm, int caller) {
  char byte = 0, other = 0;
  MPI_Request request;
  switch (method) {
  case 0:
    MPI_Recv(&byte, 1, MPI_CHAR, caller, kTag, comm, MPI_STATUS_IGNORE);
    return;
  case 1:
    MPI_Probe(caller, kTag, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&byte, 1, MPI_CHAR, caller, kTag, comm, MPI_STATUS_IGNORE);
    return;
  case 2:
    MPI_Irecv(&byte, 1, MPI_CHAR, caller, kTag, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  case 3:
    MPI_Sendrecv(&other, 1, MPI_CHAR, MPI_PROC_NULL, kTag, &byte, 1, MPI_CHAR, caller, kTag, comm,
                 MPI_STATUS_IGNORE);
    return;
  case 4:
    MPI_Ssend(&byte, 1, MPI_CHAR, caller, kTag, comm);
    return;
  default:
    MPI_Barrier(comm);
  }
}

void callOthers(int method, MPI_Comm comm, int size) {
  char byte = 0;
  if (method == 5)
    MPI_Barrier(comm);
  int caller;
  MPI_Comm_rank(comm, &caller);
  for (int rank = 0; rank < size; ++rank)
    if (rank == caller)
      continue;
    else if (method == 4)
      MPI_Recv(&byte, 1, MPI_CHAR, rank, kTag, comm, MPI_STATUS_IGNORE);
    else if (method < 4)
      MPI_Send(&byte, 1, MPI_CHAR, rank, kTag, comm);
}

} // namespace

void runInside(Trial &trial, MPI_Comm comm, int method, int caller, Report &report) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  trial.prepare();
  MPI_Request request = trial.start();
  if (rank != caller)
    waitInside(method, comm, caller);
  report.expectSuccess(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait of " + trial.label());
  if (rank == caller)
    callOthers(method, comm, size);
  trial.check();
}

} // namespace conformance
