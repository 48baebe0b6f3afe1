// The kernels with which plans under an MPI program combine, beside MPI_Reduce_local of the MPI
// that this program is linked with and memcpy of as many bytes. In GB/s of the target's data,
// without gaps, which plans do not have; packing before and after a run is not included.
//
// Every figure is the best of several turns, ours and MPI's by turns, in time of the processor.
#include "bench/executor/Measure.h"
#include "mpi/types/Reductions.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace colldsl::bench {
namespace {

constexpr int kTurns = 9;

struct Case {
  const char *name;
  MPI_Op op;
  MPI_Datatype type;
};

void addDoubles(void *in, void *inout, int *count, MPI_Datatype *) {
  for (int i = 0; i < *count; ++i)
    static_cast<double *>(inout)[i] += static_cast<double *>(in)[i];
}

void addEveryOther(void *in, void *inout, int *count, MPI_Datatype *) {
  for (int i = 0; i < 2 * *count; i += 2)
    static_cast<double *>(inout)[i] += static_cast<double *>(in)[i];
}

MPI_Datatype makeEveryOther() {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &made);
  MPI_Type_commit(&made);
  return made;
}

void run(const Case &c, size_t bytes) {
  std::unique_ptr<mpi::Reduction> reduction = mpi::Reduction::of(c.op, c.type);
  if (!reduction)
    return;
  Combiner combiner = reduction->combiner();
  bytes -= bytes % combiner.elementBytes;
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(c.type, &lb, &extent);
  uint64_t elements = bytes / combiner.elementBytes;
  std::vector<std::byte> target(elements * static_cast<uint64_t>(extent)), source(target.size());
  auto calls = static_cast<uint32_t>(std::max<size_t>(1, (4 << 20) / bytes));
  auto side = [&](Side which) {
    return processorNsPerCall(calls, [&] {
      combiner.apply(target.data(), target.data(), source.data(), bytes, which, combiner.context);
    });
  };
  double best[3] = {};
  auto keep = [&](int i, double ns) {
    best[i] = std::max(best[i], static_cast<double>(bytes) / ns);
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    keep(0, side(Side::Before));
    keep(1, side(Side::After));
    keep(2, processorNsPerCall(calls, [&] {
           MPI_Reduce_local(source.data(), target.data(), static_cast<int>(elements), c.type, c.op);
         }));
  }
  std::printf("%-28s %6.1f %6.1f %6.1f\n", c.name, best[0], best[1], best[2]);
}

void table(size_t bytes, const std::vector<Case> &cases) {
  std::vector<std::byte> target(bytes), source(bytes);
  double copy = 0;
  for (int turn = 0; turn < kTurns; ++turn)
    copy = std::max(copy, static_cast<double>(bytes) / processorNsPerCall(8, [&] {
                            std::memcpy(target.data(), source.data(), bytes);
                            asm volatile("" ::"r"(target.data()) : "memory");
                          }));
  std::printf("%zu KiB, GB/s; memcpy %.1f\n%-28s %6s %6s %6s\n", bytes >> 10, copy, "", "before",
              "after", "MPI");
  for (const Case &c : cases)
    run(c, bytes);
  std::printf("\n");
}

} // namespace
} // namespace colldsl::bench

int main(int argc, char **argv) {
  using namespace colldsl::bench;
  MPI_Init(&argc, &argv);
  MPI_Op users = MPI_OP_NULL, usersOther = MPI_OP_NULL;
  MPI_Op_create(addDoubles, 1, &users);
  MPI_Op_create(addEveryOther, 1, &usersOther);
  MPI_Datatype everyOther = makeEveryOther();
  std::vector<Case> cases = {{"sum int8", MPI_SUM, MPI_INT8_T},
                             {"max int16", MPI_MAX, MPI_INT16_T},
                             {"sum int", MPI_SUM, MPI_INT},
                             {"band int", MPI_BAND, MPI_INT},
                             {"land int", MPI_LAND, MPI_INT},
                             {"max long", MPI_MAX, MPI_LONG},
                             {"sum float", MPI_SUM, MPI_FLOAT},
                             {"sum double", MPI_SUM, MPI_DOUBLE},
                             {"max double", MPI_MAX, MPI_DOUBLE},
                             {"sum long double", MPI_SUM, MPI_LONG_DOUBLE},
                             {"sum double complex", MPI_SUM, MPI_C_DOUBLE_COMPLEX},
                             {"prod double complex", MPI_PROD, MPI_C_DOUBLE_COMPLEX},
                             {"maxloc double and int", MPI_MAXLOC, MPI_DOUBLE_INT},
                             {"minloc 2 int", MPI_MINLOC, MPI_2INT},
                             {"minloc short and int", MPI_MINLOC, MPI_SHORT_INT},
                             {"user's sum of double", users, MPI_DOUBLE},
                             {"user's, every other double", usersOther, everyOther}};
  for (size_t bytes : {size_t{4} << 10, size_t{1} << 20, size_t{64} << 20})
    table(bytes, cases);
  MPI_Type_free(&everyOther);
  MPI_Op_free(&usersOther);
  MPI_Op_free(&users);
  MPI_Finalize();
}
