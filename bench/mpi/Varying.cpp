// Calls whose lengths differ: one of so many, in turns. A row per collective and number of lengths,
// with nanoseconds per call, the mean of all: what is prepared again and again is in it.
//
//   mpirun -n 2 varying-openmpi [--operations A,B] [--sizes LENGTHS,...], up to 4089 of them
#include "bench/mpi/Rows.h"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kLeast = 8, kMost = 4096; ///< bytes of a block
constexpr long kMostLengths = kMost - kLeast + 1;

/// What the calls of one row have in common.
struct Lists {
  explicit Lists(int ranks)
      : ranks(ranks), counts(static_cast<size_t>(ranks)), places(counts.size()),
        in(counts.size() * kMost, 1), out(in.size()) {}
  void set(int length) {
    count = length;
    for (size_t r = 0; r < counts.size(); ++r) {
      counts[r] = length;
      places[r] = static_cast<int>(r) * length;
    }
  }
  int ranks, count = 0;
  std::vector<int> counts, places;
  std::vector<char> in, out;
};

void combine(void *in, void *inout, int *count, MPI_Datatype *) {
  for (int i = 0; i < *count; ++i)
    static_cast<char *>(inout)[i] |= static_cast<char *>(in)[i];
}

/// An operator for this call alone.
void allreduceByOwn(Lists &l) {
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  MPI_Allreduce(l.in.data(), l.out.data(), l.count, MPI_CHAR, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
}

struct Operation {
  const char *name;
  std::function<void(Lists &)> call;
};

const std::vector<Operation> kOperations = {
    {"bcast", [](Lists &l) { MPI_Bcast(l.out.data(), l.count, MPI_CHAR, 0, MPI_COMM_WORLD); }},
    {"reduce",
     [](Lists &l) {
       MPI_Reduce(l.in.data(), l.out.data(), l.count, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
     }},
    {"allreduce",
     [](Lists &l) {
       MPI_Allreduce(l.in.data(), l.out.data(), l.count, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
     }},
    {"own-operator", allreduceByOwn},
    {"allgather",
     [](Lists &l) {
       MPI_Allgather(l.in.data(), l.count, MPI_CHAR, l.out.data(), l.count, MPI_CHAR,
                     MPI_COMM_WORLD);
     }},
    {"alltoallv",
     [](Lists &l) {
       MPI_Alltoallv(l.in.data(), l.counts.data(), l.places.data(), MPI_CHAR, l.out.data(),
                     l.counts.data(), l.places.data(), MPI_CHAR, MPI_COMM_WORLD);
     }},
    {"gatherv",
     [](Lists &l) {
       MPI_Gatherv(l.in.data(), l.count, MPI_CHAR, l.out.data(), l.counts.data(), l.places.data(),
                   MPI_CHAR, 0, MPI_COMM_WORLD);
     }},
};

/// Nanoseconds per call; the first round over all lengths is not counted.
double measure(const Operation &operation, long lengths, long calls, int ranks) {
  Lists lists(ranks);
  double start = 0;
  for (long i = -lengths; i < calls; ++i) {
    if (i == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      start = MPI_Wtime();
    }
    lists.set(kLeast + static_cast<int>((i + lengths) % lengths));
    operation.call(lists);
  }
  return (MPI_Wtime() - start) / static_cast<double>(calls) * 1e9;
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  bench::Options options = bench::parse(argc, argv, {"blocking"}, {16, 32, 64, 300});
  for (long lengths : options.sizes)
    options.wrong |= lengths > kMostLengths;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const Operation &operation : kOperations)
    for (long lengths : options.sizes) {
      if (options.wrong || !options.wants(operation.name))
        continue;
      double ns = measure(operation, lengths, 100 * options.calls, ranks);
      if (rank == 0)
        std::printf("%s %ld %.0f right\n", operation.name, lengths, ns);
    }
  if (options.wrong && rank == 0)
    std::fprintf(stderr, "varying: wrong arguments\n%s", bench::kHelp);
  MPI_Finalize();
  return options.wrong ? 2 : 0;
}
