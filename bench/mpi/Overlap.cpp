// The overlap of a nonblocking neighbour operation with a calculation: an MPI program that knows
// nothing of colldsl. Two ranks or more, in a ring.
//
// Prints five figures: the time of the operation by itself; its processor time beside a
// calculation; the time by itself of a calculation that takes as much processor time as the
// operation takes; the time of both together; and, of the part of the operation's time that is no
// processor time, the share that was hidden.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mpi.h>
#include <vector>

namespace {

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double wall() { return seconds(CLOCK_MONOTONIC); }
double cpu() { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// So much processor time of this thread.
void calculate(double howLong) {
  double end = seconds(CLOCK_THREAD_CPUTIME_ID) + howLong;
  while (seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

class Exchange {
public:
  explicit Exchange(int bytes) : bytes_(bytes), sent_(size()), got_(size()) {
    int ranks = 1, isPeriodic = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &isPeriodic, 0, &ring_);
  }
  ~Exchange() { MPI_Comm_free(&ring_); }

  /// The time that it takes with so much to calculate; the processor time in `used`.
  double run(double calculation, double &used) {
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = wall(), usedBefore = cpu();
    MPI_Ineighbor_alltoall(sent_.data(), bytes_, MPI_BYTE, got_.data(), bytes_, MPI_BYTE, ring_,
                           &request);
    calculate(calculation);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    used = cpu() - usedBefore - calculation;
    return wall() - begin;
  }

private:
  size_t size() const { return 2 * static_cast<size_t>(bytes_); }

  int bytes_;
  std::vector<char> sent_, got_;
  MPI_Comm ring_ = MPI_COMM_NULL;
};

/// A median over the repetitions, and the maximum over the ranks.
double agree(const std::vector<double> &mine) {
  double middle = median(mine), most = 0;
  MPI_Allreduce(&middle, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

struct Times {
  double took, used;
};

Times measure(Exchange &exchange, double calculation, int repetitions) {
  std::vector<double> took, used(static_cast<size_t>(repetitions));
  for (double &each : used)
    took.push_back(exchange.run(calculation, each));
  return {agree(took), agree(used)};
}

double measureCalculation(double calculation, int repetitions) {
  std::vector<double> took;
  for (int i = 0; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = wall();
    calculate(calculation);
    took.push_back(wall() - begin);
  }
  return agree(took);
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, bytes = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  int repetitions = argc > 2 ? std::atoi(argv[2]) : 9;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    Exchange exchange(bytes);
    measure(exchange, 0, 2);
    double alone = measure(exchange, 0, repetitions).took;
    double calculation = measureCalculation(alone, repetitions);
    Times both = measure(exchange, alone, repetitions);
    double hideable = alone - both.used;
    if (rank == 0)
      std::printf("%.0f us, of it own processor time %.0f us; calculation %.0f us; both %.0f us; "
                  "hidden %.2f\n",
                  alone * 1e6, both.used * 1e6, calculation * 1e6, both.took * 1e6,
                  hideable > 0 ? (alone + calculation - both.took) / hideable : 0.0);
  }
  MPI_Finalize();
  return 0;
}
