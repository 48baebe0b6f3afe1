// COLLDSL_CHECK=1: ranks that call different things get an error instead of a hang.
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

namespace colldsl::mpi::test {
namespace {

struct Check : ::testing::Test {
  int rank = 0, ranks = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> x = std::vector<int>(64, 1), y = std::vector<int>(64);

  Check() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  ~Check() override { MPI_Comm_free(&comm); }
  bool isOdd() const { return rank == 1; }
};

TEST_F(Check, refusesOtherRoots) {
  EXPECT_NE(MPI_Bcast(x.data(), 4, MPI_INT, isOdd() ? 1 : 0, comm), MPI_SUCCESS);
}

TEST_F(Check, refusesOtherSizes) {
  EXPECT_NE(MPI_Allreduce(x.data(), y.data(), isOdd() ? 5 : 4, MPI_INT, MPI_SUM, comm),
            MPI_SUCCESS);
  EXPECT_NE(MPI_Gather(x.data(), isOdd() ? 5 : 4, MPI_INT, y.data(), 4, MPI_INT, 0, comm),
            MPI_SUCCESS);
}

TEST_F(Check, refusesOtherTypesAndOperators) {
  EXPECT_NE(MPI_Allreduce(x.data(), y.data(), 4, isOdd() ? MPI_FLOAT : MPI_INT, MPI_SUM, comm),
            MPI_SUCCESS);
  EXPECT_NE(MPI_Allreduce(x.data(), y.data(), 4, MPI_INT, isOdd() ? MPI_MAX : MPI_SUM, comm),
            MPI_SUCCESS);
}

TEST_F(Check, refusesOtherCollectives) {
  EXPECT_NE(isOdd() ? MPI_Barrier(comm) : MPI_Bcast(x.data(), 4, MPI_INT, 0, comm), MPI_SUCCESS);
}

TEST_F(Check, letsGoWhatMpiAllows) {
  std::vector<int> in(64);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int again = 0; again < 3; ++again) {
    // The same signature.
    EXPECT_EQ(isOdd() ? MPI_Bcast(x.data(), 2, pair, 0, comm)
                      : MPI_Bcast(x.data(), 4, MPI_INT, 0, comm),
              MPI_SUCCESS);
    // In place at the root alone; what means nothing elsewhere.
    EXPECT_EQ(rank == 0 ? MPI_Gather(MPI_IN_PLACE, 77, MPI_CHAR, y.data(), 4, MPI_INT, 0, comm)
                        : MPI_Gather(x.data(), 4, MPI_INT, nullptr, 99, MPI_CHAR, 0, comm),
              MPI_SUCCESS);
    // A count of each rank's own.
    std::vector<int> counts, places;
    for (int r = 0; r < ranks; ++r) {
      counts.push_back(r + 1);
      places.push_back(4 * r);
    }
    EXPECT_EQ(MPI_Allgatherv(x.data(), rank + 1, MPI_INT, in.data(), counts.data(), places.data(),
                             MPI_INT, comm),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Allreduce(isOdd() ? MPI_IN_PLACE : x.data(), y.data(), 4, MPI_INT, MPI_SUM, comm),
              MPI_SUCCESS);
  }
  MPI_Type_free(&pair);
}

} // namespace
} // namespace colldsl::mpi::test
