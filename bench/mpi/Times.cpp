// The time that a program spends in blocking collectives: a library that is loaded before it, alone
// or before colldsl's. At MPI_Finalize rank 0 prints on standard error a line per function, the
// longest time first, and a line for all:
//
//   collective times: Allreduce 1200 calls 0.0340 s
//   collective times: all 1300 calls 0.0400 s of 1.9000 s
//
// Calls and seconds are means over the ranks. The last number is the time from the end of MPI_Init
// to MPI_Finalize. A call's time has the wait for ranks that come later. Nonblocking and persistent
// calls are not counted.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <iterator>
#include <mpi.h>
#include <utility>
#include <vector>

#define SENT const void *sent, int count, MPI_Datatype type
#define GOT void *got, int gotCount, MPI_Datatype gotType
#define SENT_LISTS const void *sent, const int counts[], const int places[], MPI_Datatype type
#define GOT_LISTS void *got, const int gotCounts[], const int gotPlaces[], MPI_Datatype gotType
#define SENT_TYPES                                                                                 \
  const void *sent, const int counts[], const int places[], const MPI_Datatype types[]
#define GOT_TYPES                                                                                  \
  void *got, const int gotCounts[], const int gotPlaces[], const MPI_Datatype gotTypes[]
#define FAR_TYPES                                                                                  \
  const void *sent, const int counts[], const MPI_Aint places[], const MPI_Datatype types[],       \
      void *got, const int gotCounts[], const MPI_Aint gotPlaces[], const MPI_Datatype gotTypes[]
#define REDUCED const void *sent, void *got, int count, MPI_Datatype type, MPI_Op op
#define ROOT int root
#define COMM MPI_Comm comm

#define PASSED_BLOCKS sent, count, type, got, gotCount, gotType
#define PASSED_LISTS sent, counts, places, type, got, gotCounts, gotPlaces, gotType
#define PASSED_TYPES sent, counts, places, types, got, gotCounts, gotPlaces, gotTypes

// name, parameters, the same passed on
#define FUNCTIONS(ROW)                                                                             \
  ROW(Barrier, (COMM), comm)                                                                       \
  ROW(Bcast, (void *data, int count, MPI_Datatype type, ROOT, COMM), data, count, type, root,      \
      comm)                                                                                        \
  ROW(Gather, (SENT, GOT, ROOT, COMM), PASSED_BLOCKS, root, comm)                                  \
  ROW(Gatherv, (SENT, GOT_LISTS, ROOT, COMM), sent, count, type, got, gotCounts, gotPlaces,        \
      gotType, root, comm)                                                                         \
  ROW(Scatter, (SENT, GOT, ROOT, COMM), PASSED_BLOCKS, root, comm)                                 \
  ROW(Scatterv, (SENT_LISTS, GOT, ROOT, COMM), sent, counts, places, type, got, gotCount, gotType, \
      root, comm)                                                                                  \
  ROW(Allgather, (SENT, GOT, COMM), PASSED_BLOCKS, comm)                                           \
  ROW(Allgatherv, (SENT, GOT_LISTS, COMM), sent, count, type, got, gotCounts, gotPlaces, gotType,  \
      comm)                                                                                        \
  ROW(Alltoall, (SENT, GOT, COMM), PASSED_BLOCKS, comm)                                            \
  ROW(Alltoallv, (SENT_LISTS, GOT_LISTS, COMM), PASSED_LISTS, comm)                                \
  ROW(Alltoallw, (SENT_TYPES, GOT_TYPES, COMM), PASSED_TYPES, comm)                                \
  ROW(Reduce, (REDUCED, ROOT, COMM), sent, got, count, type, op, root, comm)                       \
  ROW(Allreduce, (REDUCED, COMM), sent, got, count, type, op, comm)                                \
  ROW(Reduce_scatter,                                                                              \
      (const void *sent, void *got, const int counts[], MPI_Datatype type, MPI_Op op, COMM), sent, \
      got, counts, type, op, comm)                                                                 \
  ROW(Reduce_scatter_block, (REDUCED, COMM), sent, got, count, type, op, comm)                     \
  ROW(Scan, (REDUCED, COMM), sent, got, count, type, op, comm)                                     \
  ROW(Exscan, (REDUCED, COMM), sent, got, count, type, op, comm)                                   \
  ROW(Neighbor_allgather, (SENT, GOT, COMM), PASSED_BLOCKS, comm)                                  \
  ROW(Neighbor_allgatherv, (SENT, GOT_LISTS, COMM), sent, count, type, got, gotCounts, gotPlaces,  \
      gotType, comm)                                                                               \
  ROW(Neighbor_alltoall, (SENT, GOT, COMM), PASSED_BLOCKS, comm)                                   \
  ROW(Neighbor_alltoallv, (SENT_LISTS, GOT_LISTS, COMM), PASSED_LISTS, comm)                       \
  ROW(Neighbor_alltoallw, (FAR_TYPES, COMM), PASSED_TYPES, comm)

namespace {

using Clock = std::chrono::steady_clock;

enum Function {
#define ROW(name, ...) name,
  FUNCTIONS(ROW)
#undef ROW
      kFunctions
};

struct Row {
  const char *name;
  double calls = 0, seconds = 0;
};

Row rows[kFunctions] = {
#define ROW(name, ...) {#name},
    FUNCTIONS(ROW)
#undef ROW
};
Clock::time_point begun;
// MPIs make some collectives of others.
thread_local bool isInside = false;

/// The function of the next library.
template <typename F> F *next(F *, const char *name) {
  return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
}

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename F, typename... P> int timed(Function function, F *real, P... parameters) {
  if (isInside)
    return real(parameters...);
  isInside = true;
  Clock::time_point start = Clock::now();
  int code = real(parameters...);
  rows[function].seconds += secondsSince(start);
  ++rows[function].calls;
  isInside = false;
  return code;
}

/// Collective over MPI_COMM_WORLD. Returns the means over the ranks, at rank 0, and the mean of a
/// number.
std::pair<std::vector<Row>, double> means(double total) {
  std::vector<double> mine{total}, sums(2 * kFunctions + 1);
  for (const Row &row : rows)
    mine.insert(mine.end(), {row.calls, row.seconds});
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  PMPI_Reduce(mine.data(), sums.data(), 2 * kFunctions + 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  std::vector<Row> all(std::begin(rows), std::end(rows));
  for (size_t i = 0; i < kFunctions; ++i)
    all[i] = {rows[i].name, sums[2 * i + 1] / ranks, sums[2 * i + 2] / ranks};
  return {all, sums[0] / ranks};
}

void print() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto [functions, total] = means(secondsSince(begun));
  if (rank != 0)
    return;
  std::sort(functions.begin(), functions.end(),
            [](const Row &a, const Row &b) { return a.seconds > b.seconds; });
  Row all{"all"};
  for (const Row &row : functions) {
    all.calls += row.calls;
    all.seconds += row.seconds;
    if (row.calls > 0)
      std::fprintf(stderr, "collective times: %s %.0f calls %.4f s\n", row.name, row.calls,
                   row.seconds);
  }
  std::fprintf(stderr, "collective times: all %.0f calls %.4f s of %.4f s\n", all.calls,
               all.seconds, total);
}

} // namespace

// Fortran's bindings call MPI_X or PMPI_X.
#define ENTRY(name, parameters)                                                                    \
  extern "C"                                                                                       \
      __attribute__((visibility("default"), alias("MPI_" #name))) int PMPI_##name parameters;      \
  extern "C" __attribute__((visibility("default"))) int MPI_##name parameters
#define NEXT(name) next(&MPI_##name, "PMPI_" #name)

#define ROW(name, parameters, ...)                                                                 \
  ENTRY(name, parameters) {                                                                        \
    static auto *real = NEXT(name);                                                                \
    return timed(name, real, __VA_ARGS__);                                                         \
  }
FUNCTIONS(ROW)
#undef ROW

ENTRY(Init, (int *argc, char ***argv)) {
  int code = NEXT(Init)(argc, argv);
  begun = Clock::now();
  return code;
}

ENTRY(Init_thread, (int *argc, char ***argv, int required, int *provided)) {
  int code = NEXT(Init_thread)(argc, argv, required, provided);
  begun = Clock::now();
  return code;
}

ENTRY(Finalize, ()) {
  isInside = true;
  print();
  return NEXT(Finalize)();
}
