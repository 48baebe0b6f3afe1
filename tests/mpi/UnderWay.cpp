#include "tests/mpi/UnderWay.h"

#include "mpi/Mpi.h"

namespace in_calls {
namespace {

constexpr auto initAllreduce = COLLDSL_MPI_PERSISTENT(Allreduce_init);
constexpr auto initNeighborAlltoall = COLLDSL_MPI_PERSISTENT(Neighbor_alltoall_init);

bool isPersistent(Form form) {
  return form == Form::AllreduceInit || form == Form::NeighborAlltoallInit;
}

} // namespace

const char *UnderWay::nameOf(Form form) {
  constexpr const char *names[kForms] = {
      "MPI_Iallreduce",         "MPI_Ialltoall",          "MPI_Ibcast",
      "MPI_Ineighbor_alltoall", "a persistent allreduce", "a persistent neighbor_alltoall"};
  return names[static_cast<int>(form)];
}

UnderWay::UnderWay(Form form, int ints, int root, MPI_Comm comm, MPI_Comm graph)
    : form_(form), ints_(ints), root_(root), comm_(comm), graph_(graph) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  block_ = ints / ranks_;
  for (int i = 0; i < ints; ++i)
    sent_.push_back(value(rank_, i));
  got_.assign(static_cast<size_t>(ints), -1);
  if (form == Form::Ibcast && rank_ == root)
    got_ = sent_;
  if (form == Form::AllreduceInit)
    initAllreduce(sent_.data(), got_.data(), ints_, MPI_INT, MPI_SUM, comm_, MPI_INFO_NULL,
                  &request_);
  if (form == Form::NeighborAlltoallInit)
    initNeighborAlltoall(sent_.data(), block_, MPI_INT, got_.data(), block_, MPI_INT, graph_,
                         MPI_INFO_NULL, &request_);
}

UnderWay::~UnderWay() {
  if (isPersistent(form_))
    MPI_Request_free(&request_);
}

void UnderWay::start() {
  switch (form_) {
  case Form::Iallreduce:
    MPI_Iallreduce(sent_.data(), got_.data(), ints_, MPI_INT, MPI_SUM, comm_, &request_);
    return;
  case Form::Ialltoall:
    MPI_Ialltoall(sent_.data(), block_, MPI_INT, got_.data(), block_, MPI_INT, comm_, &request_);
    return;
  case Form::Ibcast:
    MPI_Ibcast(got_.data(), ints_, MPI_INT, root_, comm_, &request_);
    return;
  case Form::IneighborAlltoall:
    MPI_Ineighbor_alltoall(sent_.data(), block_, MPI_INT, got_.data(), block_, MPI_INT, graph_,
                           &request_);
    return;
  case Form::AllreduceInit:
  case Form::NeighborAlltoallInit:
    MPI_Start(&request_);
    return;
  }
}

// Neighbours are all other ranks, in their order.
int UnderWay::expected(int place) const {
  int slot = place / block_, within = place % block_;
  switch (form_) {
  case Form::Iallreduce:
  case Form::AllreduceInit:
    return ranks_ * value(0, place) + 7 * ranks_ * (ranks_ - 1) / 2;
  case Form::Ialltoall:
    return slot < ranks_ ? value(slot, rank_ * block_ + within) : -1;
  case Form::Ibcast:
    return value(root_, place);
  case Form::IneighborAlltoall:
  case Form::NeighborAlltoallInit: {
    int peer = slot < rank_ ? slot : slot + 1;
    int ownSlot = rank_ < peer ? rank_ : rank_ - 1;
    return slot < ranks_ - 1 ? value(peer, ownSlot * block_ + within) : -1;
  }
  }
  return -1;
}

bool UnderWay::isRight() const {
  for (int i = 0; i < ints_; ++i)
    if (got_[static_cast<size_t>(i)] != expected(i))
      return false;
  return true;
}

} // namespace in_calls
