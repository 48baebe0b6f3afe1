// Activity of a program beside its collectives, bare and with colldsl loaded: a message of the MPI
// that is under way while its sender waits in a collective, and communicators that live for few
// calls.
#include "bench/mpi/Rows.h"

using namespace bench;

namespace {

/// Rank 1 sends to rank 0, enters a barrier, then completes the message; rank 0 receives it before
/// it comes to the barrier. Without progress in the barrier it never ends.
class Rendezvous : public Operation {
public:
  Rendezvous(long bytes, Bench &bench) : rank_(bench.rank()), data_(bytes, false), bytes_(bytes) {}
  void write(long call) override {
    if (rank_ == 1)
      data_.data()[bytes_ - 1] = static_cast<unsigned char>(call);
  }
  void call() override {
    auto count = static_cast<int>(bytes_);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank_ == 1)
      MPI_Isend(data_.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    if (rank_ == 0)
      MPI_Recv(data_.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  bool check(long call) const override {
    return rank_ > 1 || data_.data()[bytes_ - 1] == static_cast<unsigned char>(call);
  }
  bool isSynchronized() const override { return true; }

private:
  int rank_;
  Buffer data_;
  long bytes_;
};

/// A communicator, some sums over it, and its end.
class ShortLived : public Operation {
public:
  ShortLived(bool splits, int sums) : splits_(splits), sums_(sums) {}
  void write(long call) override { value_ = static_cast<double>(call); }
  void call() override {
    MPI_Comm comm;
    if (splits_)
      MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    else
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < sums_; ++i)
      MPI_Allreduce(&value_, &sum_, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Comm_size(comm, &ranks_);
    MPI_Comm_free(&comm);
  }
  bool check(long call) const override { return sum_ == static_cast<double>(call) * ranks_; }
  bool isSynchronized() const override { return true; }

private:
  bool splits_;
  int sums_, ranks_ = 0;
  double value_ = 0, sum_ = 0;
};

void measureAll(Bench &bench) {
  if (bench.options().wants("rendezvous"))
    for (long size : bench.options().sizes) {
      Rendezvous rendezvous(size, bench);
      bench.row("rendezvous " + std::to_string(size), rendezvous);
    }
  ShortLived copy(false, 1), part(true, 2);
  if (bench.options().wants("dup-allreduce-free"))
    bench.row("dup-allreduce-free 0", copy);
  if (bench.options().wants("split-2-allreduces-free"))
    bench.row("split-2-allreduces-free 0", part);
}

} // namespace

int main(int argc, char **argv) {
  return benchMain(argc, argv, "beside", {"blocking"}, {64 << 10, 512 << 10, 4 << 20}, measureAll);
}
