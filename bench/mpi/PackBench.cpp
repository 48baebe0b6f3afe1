// Packing and unpacking by layouts, against MPI_Pack and MPI_Unpack of the MPI that this program is
// linked with; and the cost of asking for a layout.
//
// Every figure is the best of several turns, ours and MPI's by turns, in time of the processor:
// on a machine that has other work to do, that is closest to the truth.
#include "bench/executor/Measure.h"
#include "mpi/types/Datatype.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace colldsl::bench {
namespace {

constexpr int kTurns = 15;

struct Pair {
  double ours = INFINITY, mpi = INFINITY;
};

/// The best of both, by turns.
template <typename Ours, typename Mpi> Pair compare(int calls, Ours ours, Mpi mpi) {
  Pair best;
  for (int turn = 0; turn < kTurns; ++turn) {
    best.ours = std::min(best.ours, processorNsPerCall(calls, ours));
    best.mpi = std::min(best.mpi, processorNsPerCall(calls, mpi));
  }
  return best;
}

struct Case {
  const char *name;
  MPI_Datatype type;
  int count;
};

MPI_Datatype vectorOf(int blocks, int length, int stride, MPI_Datatype element) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, length, stride, element, &type);
  return type;
}

/// A face of a cube of doubles.
MPI_Datatype face(int size, int dimension) {
  int sizes[3] = {size, size, size}, taken[3] = {size, size, size}, first[3] = {0, 0, 0};
  taken[dimension] = 1;
  first[dimension] = size / 2;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, taken, first, MPI_ORDER_C, MPI_DOUBLE, &type);
  return type;
}

MPI_Datatype particle() {
  int lengths[3] = {1, 3, 1};
  MPI_Aint places[3] = {0, 8, 40};
  MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_DOUBLE}, packed, type;
  MPI_Type_create_struct(3, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, 64, &type);
  MPI_Type_free(&packed);
  return type;
}

MPI_Datatype scattered(int blocks) {
  std::vector<int> lengths, places;
  for (int b = 0, at = 0; b < blocks; ++b, at += lengths.back() + 1 + b % 5) {
    lengths.push_back(1 + b % 3);
    places.push_back(at);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(blocks, lengths.data(), places.data(), MPI_DOUBLE, &type);
  return type;
}

void run(Case c, double &logs, int &figures) {
  MPI_Type_commit(&c.type);
  std::shared_ptr<const mpi::TypeLayout> layout = *mpi::layoutOf(c.type);
  uint64_t bytes = layout->size * c.count;
  MPI_Aint trueLb = 0, span = 0;
  MPI_Type_get_true_extent(c.type, &trueLb, &span);
  std::vector<std::byte> memory(layout->extent * (c.count - 1) + trueLb + span), packed(bytes);
  int calls = static_cast<int>(std::max<uint64_t>(1, (1 << 21) / bytes)), size = bytes;
  Pair pack = compare(
      calls, [&] { mpi::pack(*layout, memory.data(), 0, bytes, packed.data()); },
      [&] {
        int position = 0;
        MPI_Pack(memory.data(), c.count, c.type, packed.data(), size, &position, MPI_COMM_SELF);
      });
  Pair unpack = compare(
      calls, [&] { mpi::unpack(*layout, memory.data(), 0, bytes, packed.data()); },
      [&] {
        int position = 0;
        MPI_Unpack(packed.data(), size, &position, memory.data(), c.count, c.type, MPI_COMM_SELF);
      });
  std::printf("%-28s %8lu  %8.0f %8.0f %6.2f  %8.0f %8.0f %6.2f\n", c.name, bytes, pack.ours,
              pack.mpi, pack.mpi / pack.ours, unpack.ours, unpack.mpi, unpack.mpi / unpack.ours);
  logs += std::log(pack.mpi / pack.ours) + std::log(unpack.mpi / unpack.ours);
  figures += 2;
  MPI_Type_free(&c.type);
}

void packing() {
  std::printf("%-28s %8s  %26s  %26s\n%-28s %8s  %8s %8s %6s  %8s %8s %6s\n", "", "", "pack, ns",
              "unpack, ns", "datatype", "bytes", "ours", "MPI", "ratio", "ours", "MPI", "ratio");
  double logs = 0;
  int figures = 0;
  for (Case c :
       {Case{"ints, one of 2", vectorOf(16, 1, 2, MPI_INT), 1},
        Case{"ints, one of 2", vectorOf(65536, 1, 2, MPI_INT), 1},
        Case{"doubles, one of 2", vectorOf(64, 1, 2, MPI_DOUBLE), 1},
        Case{"doubles, one of 64", vectorOf(512, 1, 64, MPI_DOUBLE), 1},
        Case{"doubles, one of 2", vectorOf(131072, 1, 2, MPI_DOUBLE), 1},
        Case{"pairs of doubles, of 8", vectorOf(4096, 2, 8, MPI_DOUBLE), 1},
        Case{"5 doubles of 8", vectorOf(4096, 5, 8, MPI_DOUBLE), 1},
        Case{"64 doubles of 128", vectorOf(512, 64, 128, MPI_DOUBLE), 1},
        Case{"face of 64^3, slowest", face(64, 0), 1}, Case{"face of 64^3, middle", face(64, 1), 1},
        Case{"face of 64^3, fastest", face(64, 2), 1},
        Case{"particles of 4, 24, 8 bytes", particle(), 4096},
        Case{"1 to 3 doubles, scattered", scattered(8192), 1}})
    run(c, logs, figures);
  std::printf("geometric mean of the ratios: %.2f\n", std::exp(logs / figures));
}

void asking() {
  constexpr int kCalls = 1 << 20;
  MPI_Datatype type = vectorOf(16, 1, 2, MPI_INT);
  for (MPI_Datatype t : {type, MPI_DOUBLE})
    if (!mpi::layoutOf(t))
      return;
  volatile uint64_t id = 0;
  auto ask = [&](MPI_Datatype t) { id = mpi::knownLayoutOf(t)->id; };
  Pair ns = compare(
      kCalls, [&] { ask(MPI_DOUBLE); }, [&] { ask(type); });
  std::printf("\nasking for a layout that is known: %.1f ns for MPI_DOUBLE, %.1f ns for a vector\n",
              ns.ours, ns.mpi);
  MPI_Type_free(&type);
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  colldsl::bench::packing();
  colldsl::bench::asking();
  MPI_Finalize();
}
