// Broadcasts and reductions of ranks that are disturbed: an MPI program that knows nothing of
// colldsl.
//
//   usage: mpirun -n P disturbed bcast|reduce BYTES CALLS skew MAX_US
//          mpirun -n P disturbed bcast|reduce BYTES CALLS noise PERIOD_US DETOUR_US
//
// skew: before each call the ranks meet in a barrier, and each but the root draws a time uniformly
// from -MAX_US/2 to MAX_US/2 and sleeps for so long if it is positive. Prints the microseconds of a
// rank other than the root in a call.
//
// noise: a process beside each rank stops it (SIGSTOP) for DETOUR_US in each PERIOD_US, from a
// random moment on. Prints the microseconds per call of calls one after the other.
//
// Both are means over the calls and ranks, followed by `right` or `wrong` for the data.
#include "bench/mpi/Rows.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

struct Options {
  bool reduces = false, hasNoise = false;
  int count = 0, calls = 0;
  int maxUs = 0, periodUs = 0, detourUs = 0;
};

enum class Phase { Before, Disturbing, After };

/// Stops its parent process again and again. A process that it has stopped goes on before it ends.
class Noise {
public:
  /// Forks, so it is called before MPI_Init.
  explicit Noise(const Options &options) {
    void *shared =
        mmap(nullptr, sizeof *phase_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
      std::exit(2);
    phase_ = new (shared) std::atomic<Phase>(Phase::Before);
    child_ = fork();
    if (child_ == 0)
      disturb(options);
  }
  void begin() { *phase_ = Phase::Disturbing; }
  void end() {
    *phase_ = Phase::After;
    waitpid(child_, nullptr, 0);
  }

private:
  [[noreturn]] void disturb(const Options &options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t rank = getppid();
    while (*phase_ == Phase::Before)
      usleep(1000);
    std::mt19937 random(static_cast<unsigned>(rank));
    usleep(random() % static_cast<unsigned>(options.periodUs));
    while (*phase_ == Phase::Disturbing) {
      kill(rank, SIGSTOP);
      usleep(static_cast<unsigned>(options.detourUs));
      kill(rank, SIGCONT);
      usleep(static_cast<unsigned>(options.periodUs - options.detourUs));
    }
    _exit(0);
  }

  std::atomic<Phase> *phase_;
  pid_t child_;
};

class Disturbed {
public:
  explicit Disturbed(const Options &options) : options_(options), sent_(options.count) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    got_.resize(sent_.size());
  }

  /// Seconds of this rank in all calls.
  double underSkew() {
    std::mt19937 random(static_cast<unsigned>(rank_) + 1);
    std::uniform_int_distribution<int> draw(-options_.maxUs / 2, options_.maxUs / 2);
    double seconds = 0;
    for (int i = 0; i < options_.calls; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (int us = draw(random); rank_ != 0 && us > 0)
        usleep(static_cast<unsigned>(us));
      seconds += call(i);
    }
    return rank_ == 0 ? 0 : seconds;
  }

  double inARow() {
    double seconds = 0;
    for (int i = 0; i < options_.calls; ++i)
      seconds += call(i);
    return seconds;
  }

  double call(int number) {
    double value = number % 100 + 1;
    if (rank_ == 0 || options_.reduces)
      std::fill(sent_.begin(), sent_.end(), value);
    double begin = MPI_Wtime();
    if (options_.reduces)
      MPI_Reduce(sent_.data(), got_.data(), options_.count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
      MPI_Bcast(sent_.data(), options_.count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - begin;
    if (options_.reduces && rank_ == 0)
      isRight_ &= got_.front() == value * ranks_ && got_.back() == value * ranks_;
    if (!options_.reduces)
      isRight_ &= sent_.front() == value && sent_.back() == value;
    return seconds;
  }

  void print(double seconds) const {
    double sum = 0;
    int mine = isRight_, right = 0;
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank_ == 0)
      std::printf("%.1f %s\n",
                  sum / options_.calls / (options_.hasNoise ? ranks_ : ranks_ - 1) * 1e6,
                  right ? "right" : "wrong");
  }

private:
  const Options &options_;
  int rank_, ranks_;
  bool isRight_ = true;
  std::vector<double> sent_, got_;
};

bool parse(int argc, char **argv, Options &options) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 5)
    return false;
  options.reduces = words[0] == "reduce";
  options.count = std::max(std::atoi(argv[2]) / static_cast<int>(sizeof(double)), 1);
  options.calls = std::atoi(argv[3]);
  options.hasNoise = words[3] == "noise";
  options.maxUs = std::atoi(argv[5]);
  if (options.hasNoise && words.size() == 6) {
    options.periodUs = options.maxUs;
    options.detourUs = std::atoi(argv[6]);
  }
  return options.calls > 0 && words.size() == (options.hasNoise ? 6 : 5) &&
         (!options.hasNoise || options.periodUs > options.detourUs);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: mpirun -n P disturbed bcast|reduce BYTES CALLS skew MAX_US\n"
                         "       mpirun -n P disturbed bcast|reduce BYTES CALLS noise PERIOD_US "
                         "DETOUR_US\n");
    return 2;
  }
  std::vector<Noise> noise;
  if (options.detourUs > 0)
    noise.emplace_back(options);
  MPI_Init(&argc, &argv);
  {
    Disturbed program(options);
    constexpr int kWarmUp = 3;
    for (int i = 0; i < kWarmUp; ++i)
      program.call(i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (Noise &each : noise)
      each.begin();
    double seconds = options.hasNoise ? program.inARow() : program.underSkew();
    for (Noise &each : noise)
      each.end();
    program.print(seconds);
  }
  bench::leaveInTime();
  MPI_Finalize();
  return 0;
}
