// Activity of a program beside its collectives, bare and with colldsl loaded: a message of the MPI
// that is under way while its sender waits in a collective, communicators that live for few calls,
// and requests of messages that are tested while a barrier is under way.
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

/// A step of a search in a graph, by active messages: each rank sends to all others, and tests its
/// persistent receives meanwhile, also while a barrier is under way; then comes a sum.
class Search : public Operation {
public:
  Search(long bytes, Bench &bench)
      : rank_(bench.rank()), ranks_(bench.ranks()), words_(static_cast<int>(bytes) / 8),
        received_(static_cast<size_t>(words_ * kReceives)), sent_(static_cast<size_t>(words_)) {
    for (int i = 0; i < kReceives; ++i) {
      MPI_Recv_init(&received_[static_cast<size_t>(i * words_)], words_, MPI_DOUBLE, MPI_ANY_SOURCE,
                    0, MPI_COMM_WORLD, &receives_[i]);
      MPI_Start(&receives_[i]);
    }
  }
  ~Search() override {
    for (MPI_Request &receive : receives_) {
      MPI_Cancel(&receive);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      MPI_Request_free(&receive);
    }
  }
  void write(long call) override { sent_[0] = static_cast<double>(call); }
  void call() override {
    sum_ = 0;
    awaited_ = kMessages * (ranks_ - 1);
    for (int step = 1; step < ranks_; ++step)
      for (int message = 0; message < kMessages; ++message)
        send((rank_ + step) % ranks_);
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    for (int isDone = 0; !isDone || awaited_ > 0; poll())
      MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE);
    MPI_Allreduce(&sum_, &total_, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  bool check(long call) const override {
    return total_ == static_cast<double>(call) * kMessages * (ranks_ - 1) * ranks_;
  }
  bool isSynchronized() const override { return true; }

private:
  static constexpr int kMessages = 16, kReceives = 4;

  void send(int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent_.data(), words_, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request);
    for (int isDone = 0; !isDone; poll())
      MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
  }
  void poll() {
    int index = 0, isDone = 0;
    MPI_Testany(kReceives, receives_, &index, &isDone, MPI_STATUS_IGNORE);
    if (!isDone || index == MPI_UNDEFINED)
      return;
    sum_ += received_[static_cast<size_t>(index * words_)];
    --awaited_;
    MPI_Start(&receives_[index]);
  }

  int rank_, ranks_, words_, awaited_ = 0;
  MPI_Request receives_[kReceives];
  std::vector<double> received_, sent_;
  double sum_ = 0, total_ = 0;
};

void measureAll(Bench &bench) {
  if (bench.options().wants("rendezvous"))
    for (long size : bench.options().sizes) {
      Rendezvous rendezvous(size, bench);
      bench.row("rendezvous " + std::to_string(size), rendezvous);
    }
  if (bench.options().wants("search"))
    for (long size : {64, 2048}) {
      Search search(size, bench);
      bench.row("search " + std::to_string(size), search);
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
