// The gain of the info keys of neighbourhood communicators: the same calls on a communicator
// without them and on one with them, in turns. Times are the least of all turns: processor time if
// a rank is alone, else the time that passes on rank 0.
//
//   colldsl mpi -- mpirun -n 1 info-hints-openmpi [BYTES [CALLS [TURNS [EDGES]]]]
//
// Every rank has so many edges out, eight at most, to the ranks behind it and around to itself, and
// so many in.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mpi.h>
#include <vector>

namespace {

constexpr int kDegree = 8; ///< at most
constexpr const char *kKeys[] = {"cdag_strict_communication", "cdag_exact_byte_communications",
                                 "cdag_static_buffers"};

double nowNs() {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  timespec now;
  clock_gettime(ranks == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

/// Bit k of `keys`: the k-th key is given.
MPI_Comm makeGraph(unsigned keys, int edges) {
  int rank, ranks, sources[kDegree], targets[kDegree];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int k = 0; k < kDegree; ++k) {
    targets[k] = (rank + k + 1) % ranks;
    sources[k] = (rank + kDegree * ranks - k - 1) % ranks;
  }
  MPI_Info info;
  MPI_Info_create(&info);
  for (int k = 0; k < 3; ++k)
    if (keys >> k & 1)
      MPI_Info_set(info, kKeys[k], "true");
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, sources, MPI_UNWEIGHTED, edges, targets,
                                 MPI_UNWEIGHTED, info, 0, &graph);
  MPI_Info_free(&info);
  return graph;
}

/// The arguments of all calls.
struct Arguments {
  int bytes, counts[kDegree], places[kDegree], ones[kDegree];
  MPI_Aint farPlaces[kDegree];
  MPI_Datatype block, blocks[kDegree];
  std::vector<char> sent, got;

  explicit Arguments(int blockBytes)
      : bytes(blockBytes), sent(kDegree * blockBytes), got(kDegree * blockBytes) {
    MPI_Type_contiguous(bytes, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    for (int k = 0; k < kDegree; ++k) {
      counts[k] = bytes;
      places[k] = k * bytes;
      ones[k] = 1;
      farPlaces[k] = places[k];
      blocks[k] = block;
    }
  }
  ~Arguments() { MPI_Type_free(&block); }
};

void alltoall(Arguments &a, MPI_Comm graph) {
  MPI_Neighbor_alltoall(a.sent.data(), a.bytes, MPI_BYTE, a.got.data(), a.bytes, MPI_BYTE, graph);
}
void alltoallTyped(Arguments &a, MPI_Comm graph) {
  MPI_Neighbor_alltoall(a.sent.data(), 1, a.block, a.got.data(), 1, a.block, graph);
}
void alltoallv(Arguments &a, MPI_Comm graph) {
  MPI_Neighbor_alltoallv(a.sent.data(), a.counts, a.places, MPI_BYTE, a.got.data(), a.counts,
                         a.places, MPI_BYTE, graph);
}
void alltoallw(Arguments &a, MPI_Comm graph) {
  MPI_Neighbor_alltoallw(a.sent.data(), a.ones, a.farPlaces, a.blocks, a.got.data(), a.ones,
                         a.farPlaces, a.blocks, graph);
}

struct Row {
  const char *name;
  void (*call)(Arguments &, MPI_Comm);
};
constexpr Row kRows[] = {{"alltoall", alltoall},
                         {"alltoall, derived type", alltoallTyped},
                         {"alltoallv", alltoallv},
                         {"alltoallw, derived types", alltoallw}};

double turn(const Row &row, Arguments &arguments, MPI_Comm graph, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = nowNs();
  for (int i = 0; i < calls; ++i)
    row.call(arguments, graph);
  return (nowNs() - begin) / calls;
}

constexpr unsigned kSets[] = {0, 1, 2, 4, 7};

/// Nanoseconds with each set of keys. Each row has graphs of its own: all calls of a kind are
/// said to be the same by info hints.
std::vector<double> measure(const Row &row, Arguments &arguments, int calls, int turns, int edges) {
  std::vector<MPI_Comm> graphs;
  for (unsigned keys : kSets)
    graphs.push_back(makeGraph(keys, edges));
  std::vector<double> best(graphs.size(), 1e30);
  for (int t = 0; t < turns; ++t)
    for (size_t g = 0; g < graphs.size(); ++g)
      best[g] = std::min(best[g], turn(row, arguments, graphs[g], calls));
  for (MPI_Comm &graph : graphs)
    MPI_Comm_free(&graph);
  return best;
}

void printRows(int bytes, int calls, int turns, int edges) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0)
    std::printf("%d ranks, %d bytes, ns: none, strict, exact, static, all\n", ranks, bytes);
  Arguments arguments(bytes);
  for (const Row &row : kRows) {
    std::vector<double> best = measure(row, arguments, calls, turns, edges);
    if (rank == 0) {
      std::printf("%-26s", row.name);
      for (double ns : best)
        std::printf(" %9.0f", ns);
      std::printf("\n");
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bytes = argc > 1 ? std::atoi(argv[1]) : 8;
  int calls = argc > 2 ? std::atoi(argv[2]) : 10000;
  int turns = argc > 3 ? std::atoi(argv[3]) : 11;
  int edges = argc > 4 ? std::clamp(std::atoi(argv[4]), 1, kDegree) : kDegree;
  printRows(bytes, calls, turns, edges);
  MPI_Finalize();
}
