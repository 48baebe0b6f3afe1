// GoogleTest on all ranks of an MPI program. Each rank runs all cases, and fails by itself.
#include <gtest/gtest.h>
#include <mpi.h>

int main(int argc, char **argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, COLLDSL_TEST_THREADS, &provided);
#ifndef COLLDSL_TEST_UNBEGUN
  MPI_Barrier(MPI_COMM_WORLD);
#endif
  testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
