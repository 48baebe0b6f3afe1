// A program with one hot collective: the time of its calls, part by part. Plain MPI.
//
//   mpirun -n 2 learning-mpich [--operation allreduce] [--bytes 8] [--calls 100000] [--parts 20]
//
// A line for each part: nanoseconds per call, the mean over the ranks; in the end the whole.
// Between calls each rank writes what it sends and reads what came, in time that is not counted.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

struct Options {
  std::string operation = "allreduce";
  long bytes = 8, calls = 100'000, parts = 20;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i];
    if (name == "--operation")
      options.operation = argv[i + 1];
    else if (name == "--bytes")
      options.bytes = std::atol(argv[i + 1]);
    else if (name == "--calls")
      options.calls = std::atol(argv[i + 1]);
    else if (name == "--parts")
      options.parts = std::atol(argv[i + 1]);
    else
      std::fprintf(stderr, "learning: there is no option %s\n", argv[i]), std::exit(2);
  }
  return options;
}

/// Its buffers: `bytes` of a block, for each rank one where the operation wants that.
class Hot {
public:
  Hot(const Options &options, int ranks)
      : options_(options), count_(static_cast<int>(options.bytes)),
        sent_(static_cast<size_t>(options.bytes * ranks) + 1),
        got_(static_cast<size_t>(options.bytes * ranks) + 1) {}

  void write(long call) {
    std::vector<unsigned char> &data = options_.operation == "bcast" ? got_ : sent_;
    std::memset(data.data(), static_cast<int>(call % 64 + 1), data.size());
  }
  unsigned read() const {
    unsigned sum = 0;
    for (size_t at = 0; at < got_.size(); at += 64)
      sum += static_cast<const volatile unsigned char *>(got_.data())[at];
    return sum;
  }
  void call() {
    MPI_Comm world = MPI_COMM_WORLD;
    unsigned char *sent = sent_.data(), *got = got_.data();
    if (options_.operation == "allreduce")
      MPI_Allreduce(sent, got, count_ / 8, MPI_LONG, MPI_SUM, world);
    else if (options_.operation == "reduce")
      MPI_Reduce(sent, got, count_ / 8, MPI_LONG, MPI_SUM, 0, world);
    else if (options_.operation == "bcast")
      MPI_Bcast(got, count_, MPI_BYTE, 0, world);
    else if (options_.operation == "allgather")
      MPI_Allgather(sent, count_, MPI_BYTE, got, count_, MPI_BYTE, world);
    else if (options_.operation == "alltoall")
      MPI_Alltoall(sent, count_, MPI_BYTE, got, count_, MPI_BYTE, world);
    else if (options_.operation == "barrier")
      MPI_Barrier(world);
    else
      std::fprintf(stderr, "learning: there is no operation %s\n", options_.operation.c_str()),
          MPI_Abort(world, 2);
  }

private:
  const Options &options_;
  int count_;
  std::vector<unsigned char> sent_, got_;
};

} // namespace

int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options = parse(argc, argv);
  Hot hot(options, ranks);
  std::vector<double> mine, all;
  unsigned seen = 0;
  for (long part = 0; part < options.parts; ++part) {
    long calls = options.calls / options.parts;
    std::chrono::nanoseconds time{0};
    for (long call = 0; call < calls; ++call) {
      hot.write(call);
      Clock::time_point begin = Clock::now();
      hot.call();
      time += Clock::now() - begin;
      seen += hot.read();
    }
    mine.push_back(static_cast<double>(time.count()) / static_cast<double>(calls));
  }
  all.resize(mine.size());
  PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, 0,
              MPI_COMM_WORLD);
  double sum = 0;
  for (double ns : all)
    sum += ns / ranks;
  for (size_t part = 0; rank == 0 && part < all.size(); ++part)
    std::printf("part %zu %.1f\n", part, all[part] / ranks);
  if (rank == 0)
    std::printf("whole %.1f %s\n", sum / static_cast<double>(all.size()), seen ? "" : "empty");
  MPI_Finalize();
  return 0;
}
