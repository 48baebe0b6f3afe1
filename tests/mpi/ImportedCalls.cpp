// Calls that an imported schedule may serve, or not: counts that its chunks divide and others,
// several types and operators, in place and not, communicators of all ranks and of fewer. Results
// are compared with what each rank computes of all inputs. A program of MPI alone.
//   imported-calls allreduce|allgather|reduce_scatter_block|alltoall
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// Rank r gives this as its element i.
template <typename T> T given(int r, size_t i) {
  return static_cast<T>((r + 2) * 3 + static_cast<int>(i % 7));
}

template <typename T> std::vector<T> givenBy(int r, size_t count) {
  std::vector<T> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = given<T>(r, i);
  return all;
}

/// The last operand, which stands there already: an operator that does not commute.
void takeSecond(void *, void *, int *, MPI_Datatype *) {}

template <typename T> T combined(MPI_Op op, MPI_Op user, const std::vector<T> &values) {
  T all = values[0];
  for (size_t r = 1; r < values.size(); ++r) {
    T v = values[r];
    all = op == MPI_SUM ? all + v : op == MPI_MAX ? std::max(all, v) : op == user ? v : all * v;
  }
  return all;
}

struct Calls {
  MPI_Comm comm;
  int rank, ranks;
  MPI_Op second;
  int wrong = 0;

  template <typename T> void expect(const std::vector<T> &got, const std::vector<T> &wanted) {
    wrong += got != wanted;
  }

  template <typename T> std::vector<T> reduced(MPI_Op op, size_t begin, size_t count) {
    std::vector<T> wanted(count);
    for (size_t i = 0; i < count; ++i) {
      std::vector<T> values;
      for (int r = 0; r < ranks; ++r)
        values.push_back(given<T>(r, begin + i));
      wanted[i] = combined(op, second, values);
    }
    return wanted;
  }

  template <typename T> void allreduce(MPI_Datatype type, MPI_Op op, size_t n, bool inPlace) {
    std::vector<T> x = givenBy<T>(rank, n), y = inPlace ? x : std::vector<T>(n);
    MPI_Allreduce(inPlace ? MPI_IN_PLACE : x.data(), y.data(), static_cast<int>(n), type, op, comm);
    expect(y, reduced<T>(op, 0, n));
    expect(x, givenBy<T>(rank, n)); // calls keep what they send
  }

  template <typename T> void reduceScatter(MPI_Datatype type, MPI_Op op, size_t n, bool inPlace) {
    auto all = static_cast<size_t>(ranks) * n;
    std::vector<T> x = givenBy<T>(rank, all), y = inPlace ? x : std::vector<T>(n);
    MPI_Reduce_scatter_block(inPlace ? MPI_IN_PLACE : x.data(), y.data(), static_cast<int>(n), type,
                             op, comm);
    y.resize(n);
    expect(y, reduced<T>(op, static_cast<size_t>(rank) * n, n));
    expect(x, givenBy<T>(rank, all));
  }

  template <typename T> void allgather(MPI_Datatype type, size_t n, bool inPlace) {
    std::vector<T> x = givenBy<T>(rank, n), y(static_cast<size_t>(ranks) * n), wanted;
    if (inPlace)
      std::copy(x.begin(), x.end(), y.begin() + rank * static_cast<ptrdiff_t>(n));
    MPI_Allgather(inPlace ? MPI_IN_PLACE : x.data(), static_cast<int>(n), type, y.data(),
                  static_cast<int>(n), type, comm);
    for (int r = 0; r < ranks; ++r)
      for (T v : givenBy<T>(r, n))
        wanted.push_back(v);
    expect(y, wanted);
    expect(x, givenBy<T>(rank, n));
  }

  template <typename T> void alltoall(MPI_Datatype type, size_t n, bool inPlace) {
    auto all = static_cast<size_t>(ranks) * n;
    std::vector<T> x = givenBy<T>(rank, all), y = inPlace ? x : std::vector<T>(all), wanted;
    MPI_Alltoall(inPlace ? MPI_IN_PLACE : x.data(), static_cast<int>(n), type, y.data(),
                 static_cast<int>(n), type, comm);
    for (int r = 0; r < ranks; ++r)
      for (size_t i = 0; i < n; ++i)
        wanted.push_back(given<T>(r, static_cast<size_t>(rank) * n + i));
    expect(y, wanted);
    expect(x, givenBy<T>(rank, all));
  }

  template <typename T> void call(const std::string &function, MPI_Datatype type) {
    for (size_t n : {size_t{0}, size_t{1}, size_t{3}, size_t{12}, size_t{1000}, size_t{1001}})
      for (bool inPlace : {false, true}) {
        if (function == "allgather")
          allgather<T>(type, n, inPlace);
        if (function == "alltoall")
          alltoall<T>(type, n, inPlace);
        for (MPI_Op op : {MPI_SUM, MPI_MAX, second}) {
          if (function == "allreduce")
            allreduce<T>(type, op, n, inPlace);
          if (function == "reduce_scatter_block")
            reduceScatter<T>(type, op, n, inPlace);
        }
      }
  }
};

int wrongOn(MPI_Comm comm, const std::string &function, MPI_Op second) {
  Calls calls{comm, 0, 0, second};
  MPI_Comm_rank(comm, &calls.rank);
  MPI_Comm_size(comm, &calls.ranks);
  calls.call<int>(function, MPI_INT);
  calls.call<double>(function, MPI_DOUBLE);
  calls.call<short>(function, MPI_SHORT);
  return calls.wrong;
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, wrong = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string function = argc > 1 ? argv[1] : "";
  MPI_Op second = MPI_OP_NULL;
  MPI_Op_create(takeSecond, 0, &second);
  wrong = wrongOn(MPI_COMM_WORLD, function, second);
  MPI_Comm fewer = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks - 1, rank, &fewer);
  wrong += wrongOn(fewer, function, second);
  MPI_Comm_free(&fewer);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%s: %d wrong results\n", function.c_str(), all);
  MPI_Op_free(&second);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
