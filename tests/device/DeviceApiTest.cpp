// Device memory through the C API and its C++ wrapper: libcuda.so.1 is the fake device.
#include "tests/api/Launcher.h"
#include "tests/device/FakeCuda.h"

#include <cstdint>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

int32_t *allocate(size_t count) {
  return static_cast<int32_t *>(fakeCudaMemory(count * sizeof(int32_t)));
}

/// The error of binding on the one rank of a plan.
std::string boundBy(const std::function<colldsl_status(colldsl_plan *)> &bind) {
  return runRanks(1, [&](coll::Communicator &comm) -> std::string {
    coll::Plan sum(comm, "allreduce");
    colldsl_plan_set_type(sum.get(), COLLDSL_I32);
    colldsl_plan_set_count(sum.get(), 4);
    colldsl_status status = bind(sum.get());
    return status == COLLDSL_OK ? "" : std::to_string(status) + ": " + colldsl_last_error();
  });
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(DeviceApi, sumsInDeviceMemory) {
  constexpr size_t kCount = 300000; // some segments
  EXPECT_EQ(
      runRanks(3,
               [](coll::Communicator &comm) -> std::string {
                 int32_t *x = allocate(kCount), *y = allocate(kCount);
                 coll::Plan sum(comm, "allreduce");
                 sum.bindDevice("x", x, kCount).bindDevice("y", y, kCount).count(kCount).commit();
                 for (int32_t run = 0; run < 3; ++run) {
                   for (size_t i = 0; i < kCount; ++i)
                     x[i] = static_cast<int32_t>(i) + run * static_cast<int32_t>(comm.rank());
                   sum.run(30);
                   for (size_t i = 0; i < kCount; ++i)
                     if (y[i] != 3 * static_cast<int32_t>(i) + 3 * run)
                       return "element " + std::to_string(i) + " is " + std::to_string(y[i]);
                 }
                 if (fakeCudaCopies() == 0)
                   return "the device copied nothing";
                 return fakeCudaMisuse();
               }),
      "");
}

// Long messages go from device to device between processes; the others by the host.
TEST(DeviceApi, processesCopyFromEachOthersDeviceMemory) {
  constexpr size_t kCount = 30000;
  EXPECT_EQ(runRanks(4,
                     [](coll::Communicator &comm) -> std::string {
                       uint32_t ranks = comm.size(), me = comm.rank();
                       int32_t *x = allocate(kCount), *y = allocate(ranks * kCount);
                       coll::Plan gather(comm, "allgather_ring");
                       gather.deviceOnly().bindDevice("x", x, kCount);
                       gather.bindDevice("y", y, ranks * kCount).count(kCount).commit();
                       for (int32_t run = 0; run < 3; ++run) {
                         for (size_t i = 0; i < kCount; ++i)
                           x[i] = static_cast<int32_t>(i + 100000 * me) + run;
                         gather.run(30);
                         for (uint32_t r = 0; r < ranks; ++r)
                           for (size_t i = 0; i < kCount; ++i)
                             if (y[r * kCount + i] != static_cast<int32_t>(i + 100000 * r) + run)
                               return "element " + std::to_string(i) + " of rank " +
                                      std::to_string(r) + " is wrong";
                       }
                       if (fakeCudaBytesToHost() != 0)
                         return "data went by the host";
                       return fakeCudaMisuse();
                     }),
            "");
}

// The device of one rank fails while it copies from the memory of another process; others may have
// all that they need by then.
TEST(DeviceApi, aFailedCopyBetweenProcessesEndsAllRanks) {
  for (uint64_t at : {1, 2, 3})
    EXPECT_EQ(runRanks(3,
                       [at](coll::Communicator &comm) -> std::string {
                         constexpr size_t kCount = 10000;
                         if (comm.rank() == 1)
                           fakeCudaFailStreamAt(at);
                         int32_t *x = allocate(kCount), *y = allocate(comm.size() * kCount);
                         std::fill_n(x, kCount, static_cast<int32_t>(comm.rank()));
                         colldsl_status status;
                         {
                           coll::Plan gather(comm, "allgather_ring");
                           gather.deviceOnly().bindDevice("x", x, kCount);
                           gather.bindDevice("y", y, comm.size() * kCount).count(kCount).commit();
                           colldsl_plan_start(gather.get());
                           status = colldsl_plan_wait(gather.get(), 30);
                         }
                         bool isRight = true; // for a rank that has all that it needs
                         for (uint32_t r = 0; r < comm.size(); ++r)
                           isRight &= y[r * kCount] == static_cast<int32_t>(r);
                         bool mayEnd = status == COLLDSL_ERROR_RUN ||
                                       (status == COLLDSL_OK && isRight && comm.rank() != 1);
                         return mayEnd ? std::string(fakeCudaMisuse())
                                       : "status " + std::to_string(status);
                       }),
              "")
        << at;
}

TEST(DeviceApi, memoryOfTheHostInAPlanOfDevicesIsRefused) {
  std::string why = boundBy([](colldsl_plan *plan) {
    static int32_t host[4];
    coll::check(colldsl_plan_set_device_only(plan, 1));
    coll::check(colldsl_plan_bind_device(plan, "x", allocate(4), 16));
    coll::check(colldsl_plan_bind(plan, "y", host, sizeof host));
    return colldsl_plan_commit(plan);
  });
  EXPECT_TRUE(contains(why, "'y' is memory of the host, but all buffers of the plan")) << why;
}

TEST(DeviceApi, ranksThatDisagreeOnDevicesOnlyAreRefused) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       int32_t *x = allocate(8), *y = allocate(8);
                       coll::Plan sum(comm, "allreduce");
                       sum.deviceOnly(comm.rank() == 0);
                       sum.bindDevice("x", x, 8).bindDevice("y", y, 8).count(8);
                       colldsl_status status = colldsl_plan_commit(sum.get());
                       std::string why = colldsl_last_error();
                       return status == COLLDSL_ERROR_PLAN &&
                                      contains(why, "disagree on the memory: of devices only on "
                                                    "rank 0, none on rank 1")
                                  ? ""
                                  : why;
                     }),
            "");
}

// Blocks with room between them: other bytes of the device memory stay.
TEST(DeviceApi, blocksWithGapsStayApart) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       uint32_t ranks = comm.size(), me = comm.rank();
                       std::vector<uint64_t> counts(ranks), places(ranks);
                       for (uint32_t r = 0; r < ranks; ++r) {
                         counts[r] = 2;
                         places[r] = 5 * r;
                       }
                       size_t all = 5 * ranks;
                       int32_t *x = allocate(all), *y = allocate(all);
                       for (size_t i = 0; i < all; ++i) {
                         x[i] = static_cast<int32_t>(100 * me + i);
                         y[i] = -1;
                       }
                       coll::Plan swap(comm, "alltoallv");
                       swap.bindDevice("x", x, all).bindDevice("y", y, all);
                       swap.blocks("x", counts, places).blocks("y", counts, places).commit();
                       swap.run(30);
                       for (uint32_t r = 0; r < ranks; ++r)
                         for (uint32_t i = 0; i < 5; ++i) {
                           int32_t expected =
                               i < 2 ? static_cast<int32_t>(100 * r + 5 * me + i) : -1;
                           if (y[5 * r + i] != expected)
                             return "element " + std::to_string(i) + " from rank " +
                                    std::to_string(r) + " is " + std::to_string(y[5 * r + i]);
                         }
                       return fakeCudaMisuse();
                     }),
            "");
}

TEST(DeviceApi, memoryOfTheHostIsRefused) {
  std::string why = boundBy([](colldsl_plan *plan) {
    static int32_t host[4];
    return colldsl_plan_bind_device(plan, "x", host, sizeof host);
  });
  EXPECT_TRUE(contains(why, "1: 'x': the address ") && contains(why, " is not of device memory"))
      << why;
}

TEST(DeviceApi, aShortAllocationIsRefused) {
  std::string why = boundBy(
      [](colldsl_plan *plan) { return colldsl_plan_bind_device(plan, "x", allocate(4), 20); });
  EXPECT_TRUE(contains(why, "ends after 16 bytes, before the 20 bytes")) << why;
}

TEST(DeviceApi, aWrongLengthIsRefusedAtTheCommit) {
  std::string why = boundBy([](colldsl_plan *plan) {
    static int32_t host[4];
    coll::check(colldsl_plan_bind_device(plan, "x", allocate(4), 12));
    coll::check(colldsl_plan_bind(plan, "y", host, sizeof host));
    return colldsl_plan_commit(plan);
  });
  EXPECT_TRUE(contains(why, "'x' needs 16 bytes, 12 were bound")) << why;
}

TEST(DeviceApi, buffersThatOverlapAreRefused) {
  std::string why = boundBy([](colldsl_plan *plan) {
    int32_t *memory = allocate(6);
    coll::check(colldsl_plan_bind_device(plan, "x", memory, 16));
    coll::check(colldsl_plan_bind_device(plan, "y", memory + 2, 16));
    return colldsl_plan_commit(plan);
  });
  EXPECT_TRUE(contains(why, "'x' and 'y' overlap")) << why;
}

// The last binding counts, of whichever kind it is.
TEST(DeviceApi, aBufferMayBeBoundAnewToTheOtherKind) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       int32_t *x = allocate(1);
                       std::vector<int32_t> host(1, 1), y(1);
                       *x = 10;
                       coll::Plan sum(comm, "allreduce");
                       sum.bind("x", host).bind("y", y).count(1);
                       sum.bindDevice("x", x, 1).commit();
                       sum.run(30);
                       int32_t ofDevice = y[0];
                       sum.bind("x", host).run(30);
                       return std::to_string(ofDevice) + ", " + std::to_string(y[0]) == "20, 2"
                                  ? std::string(fakeCudaMisuse())
                                  : "the sums are wrong";
                     }),
            "");
}

} // namespace
} // namespace colldsl::test
