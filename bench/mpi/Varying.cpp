// Calls whose lengths differ: one of so many, in turns. A row per collective and number of lengths,
// with nanoseconds per call, the mean of all, which includes repeated preparation. Rows "own-" make
// and free an operator for each call, or a communicator for some.
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

/// The data that the calls of one row share.
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

/// The calls of a communicator that lives for these alone: `made` is freed.
void callAndFree(Lists &l, MPI_Comm made) {
  int one = 1, sum = 0;
  for (int i = 0; i < 6; ++i)
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
  MPI_Allgather(l.in.data(), 1, MPI_CHAR, l.out.data(), 1, MPI_CHAR, made);
  MPI_Bcast(l.out.data(), l.count, MPI_CHAR, 0, made);
  MPI_Comm_free(&made);
}

void callOnDuplicate(Lists &l) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  callAndFree(l, made);
}

void callOnPart(Lists &l) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
  callAndFree(l, made);
}

void callOnGrid(Lists &l) {
  int isPeriodic = 1;
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &l.ranks, &isPeriodic, 0, &made);
  MPI_Neighbor_allgather(l.in.data(), 1, MPI_CHAR, l.out.data(), 1, MPI_CHAR, made);
  callAndFree(l, made);
}

struct Operation {
  const char *name;
  bool isRooted; ///< rank 0 alone receives
  std::function<void(Lists &)> call;
};

const std::vector<Operation> kOperations = {
    {"bcast", false,
     [](Lists &l) { MPI_Bcast(l.out.data(), l.count, MPI_CHAR, 0, MPI_COMM_WORLD); }},
    {"reduce", true,
     [](Lists &l) {
       MPI_Reduce(l.in.data(), l.out.data(), l.count, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
     }},
    {"allreduce", false,
     [](Lists &l) {
       MPI_Allreduce(l.in.data(), l.out.data(), l.count, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
     }},
    {"own-operator", false, allreduceByOwn},
    {"own-dup", false, callOnDuplicate},
    {"own-part", false, callOnPart},
    {"own-grid", false, callOnGrid},
    {"allgather", false,
     [](Lists &l) {
       MPI_Allgather(l.in.data(), l.count, MPI_CHAR, l.out.data(), l.count, MPI_CHAR,
                     MPI_COMM_WORLD);
     }},
    {"alltoallv", false,
     [](Lists &l) {
       MPI_Alltoallv(l.in.data(), l.counts.data(), l.places.data(), MPI_CHAR, l.out.data(),
                     l.counts.data(), l.places.data(), MPI_CHAR, MPI_COMM_WORLD);
     }},
    {"allgatherv", false,
     [](Lists &l) {
       MPI_Allgatherv(l.in.data(), l.count, MPI_CHAR, l.out.data(), l.counts.data(),
                      l.places.data(), MPI_CHAR, MPI_COMM_WORLD);
     }},
    {"reduce_scatter", false,
     [](Lists &l) {
       MPI_Reduce_scatter(l.in.data(), l.out.data(), l.counts.data(), MPI_CHAR, MPI_MAX,
                          MPI_COMM_WORLD);
     }},
    {"gatherv", true,
     [](Lists &l) {
       MPI_Gatherv(l.in.data(), l.count, MPI_CHAR, l.out.data(), l.counts.data(), l.places.data(),
                   MPI_CHAR, 0, MPI_COMM_WORLD);
     }},
};

/// Makes one more call, of this length. True if it delivers ones to all ranks that receive.
bool isRight(const Operation &operation, Lists &lists, int length, int rank) {
  std::fill(lists.out.begin(), lists.out.end(), rank == 0 ? 1 : 0);
  lists.set(length);
  if (rank == 0 && operation.isRooted)
    std::fill(lists.out.begin(), lists.out.end(), 0);
  operation.call(lists);
  bool receives = rank == 0 || !operation.isRooted;
  int mine = !receives || std::count(lists.out.begin(), lists.out.begin() + length, 1) == length;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

/// Nanoseconds per call; the first round over all lengths is not counted.
double measure(const Operation &operation, Lists &lists, long lengths, long calls) {
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
      Lists lists(ranks);
      double ns = measure(operation, lists, lengths, 100 * options.calls);
      bool right = isRight(operation, lists, kLeast + static_cast<int>(lengths) - 1, rank);
      if (rank == 0)
        std::printf("%s %ld %.0f %s\n", operation.name, lengths, ns, right ? "right" : "wrong");
    }
  if (options.wrong && rank == 0)
    std::fprintf(stderr, "varying: wrong arguments\n%s", bench::kHelp);
  MPI_Finalize();
  return options.wrong ? 2 : 0;
}
