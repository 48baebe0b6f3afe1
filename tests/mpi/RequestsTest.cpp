// Calls about requests know at once whether these are of this library, or of the MPI.
#include "mpi/operations/Requests.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace colldsl::mpi::test {
namespace {

/// Requests of this library that were not started.
std::vector<MPI_Request> kept(size_t count) {
  static int byte = 0;
  std::vector<MPI_Request> made(count);
  for (MPI_Request &request : made)
    COLLDSL_MPI_PERSISTENT(Bcast_init)
  (&byte, 1, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return made;
}

TEST(Requests, ArePassedOnWhereNoneIsOurs) {
  EXPECT_TRUE(Requests::mayPassOn());
  std::vector<MPI_Request> ours = kept(2);
  EXPECT_FALSE(Requests::mayPassOn());
  MPI_Request_free(&ours[0]);
  EXPECT_FALSE(Requests::mayPassOn());
  MPI_Request_free(&ours[1]);
  EXPECT_TRUE(Requests::mayPassOn());
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  EXPECT_FALSE(Requests::mayPassOn());
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  EXPECT_TRUE(Requests::mayPassOn());
}

TEST(Requests, AreKnownByTheirHandles) {
  std::vector<MPI_Request> ours = kept(20), theirs(1000);
  for (MPI_Request &request : theirs)
    MPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  EXPECT_TRUE(std::all_of(ours.begin(), ours.end(), Requests::mayBeOurs));
  auto taken = std::count_if(theirs.begin(), theirs.end(), Requests::mayBeOurs);
  EXPECT_LT(taken, 100) << "each of these costs a look into the table";
  for (MPI_Request &request : ours)
    MPI_Request_free(&request);
  for (MPI_Request &request : theirs)
    MPI_Request_free(&request);
}

TEST(Requests, AreExpectedWhereThreadsMayStartThem) {
  EXPECT_FALSE(Requests::hasAny());
  Requests::setAnyThreadMayStart(true);
  EXPECT_FALSE(Requests::mayPassOn());
  EXPECT_FALSE(Requests::hasAny());
  EXPECT_TRUE(Requests::anyThreadMayStart());
  std::vector<MPI_Request> ours = kept(1);
  EXPECT_TRUE(Requests::hasAny());
  MPI_Request_free(&ours[0]);
  EXPECT_TRUE(Requests::anyThreadMayStart());
  Requests::setAnyThreadMayStart(false);
  EXPECT_TRUE(Requests::mayPassOn());
}

} // namespace
} // namespace colldsl::mpi::test
