// Buffers in memory of devices: a fake driver has memory that no CPU can touch, and a fake of an
// MPI below that can (Inputs/). The tests build on each other: a driver that is loaded stays so.
#include "mpi/CallSummary.h"
#include "mpi/DeviceMemory.h"
#include "mpi/comm/ServedComm.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>

extern "C" void (*openDevices)(int);

namespace colldsl::mpi::test {
namespace {

constexpr int kCount = 1000;

struct World {
  int rank = 0, ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

/// Of this process; rank 0 alone has one.
struct Driver {
  using Allocate = void *(*)(size_t);
  Allocate device = nullptr, managed = nullptr, pageLocked = nullptr;

  void load() {
    void *handle = dlopen(COLLDSL_FAKE_CUDA, RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    device = reinterpret_cast<Allocate>(dlsym(handle, "fakeDeviceMemory"));
    managed = reinterpret_cast<Allocate>(dlsym(handle, "fakeManagedMemory"));
    pageLocked = reinterpret_cast<Allocate>(dlsym(handle, "fakePageLockedMemory"));
    openDevices = reinterpret_cast<void (*)(int)>(dlsym(handle, "fakeOpenDevices"));
  }
} driver;

/// Where rank 0 has the buffers of a call; other ranks have theirs in the process.
enum class Place { Process, PageLocked, Managed, Device };

/// Numbers that are in such memory before and behind a call, and in between out of reach.
class Numbers {
public:
  explicit Numbers(Place place, int count = kCount) : count_(count), host_(count, -1) {
    auto bytes = static_cast<size_t>(count) * sizeof(int);
    if (World().rank != 0 || place == Place::Process)
      at_ = host_.data();
    else
      at_ = static_cast<int *>(place == Place::Device    ? driver.device(bytes)
                               : place == Place::Managed ? driver.managed(bytes)
                                                         : driver.pageLocked(bytes));
  }
  int *at() const { return at_; }
  void set(int first) {
    reach(true);
    std::iota(at_, at_ + count_, first);
    reach(false);
  }
  int get(int i) const {
    reach(true);
    int value = at_[i];
    reach(false);
    return value;
  }

private:
  static void reach(bool isOpen) {
    if (openDevices)
      openDevices(isOpen);
  }
  int count_;
  std::vector<int> host_;
  int *at_;
};

uint64_t passedOn(CallKind kind) { return Summary::all().passedOn(kind); }
uint64_t forDevices(CallKind kind) { return Summary::all().passedOnForDevices(kind); }

/// The sum over all ranks of what they set(rank + salt).
int sumOf(int i, int salt) {
  World world;
  return world.ranks * (i + salt) + world.ranks * (world.ranks - 1) / 2;
}

/// Whether an allreduce from one place to another is passed on; its result must be right.
bool isAllreducePassedOn(MPI_Comm comm, const Numbers &in, const Numbers &out, int salt) {
  uint64_t before = passedOn(CallKind::Allreduce);
  EXPECT_EQ(MPI_Allreduce(in.at(), out.at(), kCount, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  for (int i : {0, kCount - 1})
    EXPECT_EQ(out.get(i), sumOf(i, salt));
  return passedOn(CallKind::Allreduce) != before;
}

bool isAllreducePassedOn(MPI_Comm comm, Place from, Place to) {
  static int salt = 0;
  Numbers in(from), out(to);
  in.set(World().rank + ++salt);
  return isAllreducePassedOn(comm, in, out, salt);
}

MPI_Comm makeRing() {
  World world;
  int peers[2] = {(world.rank + world.ranks - 1) % world.ranks, (world.rank + 1) % world.ranks};
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peers, MPI_UNWEIGHTED, 2, peers, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring); // its ranks agree
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
}

int classOf(int code) {
  int errorClass = MPI_SUCCESS;
  MPI_Error_class(code, &errorClass);
  return errorClass;
}

/// What an allreduce in memory of a device returns where the driver came too late.
void expectRefused(int code) {
  World world;
  EXPECT_EQ(classOf(code), world.rank == 0 ? MPI_ERR_BUFFER : MPI_ERR_OTHER);
}

MPI_Comm ringFromBefore;

TEST(Devices, WithoutADriverNothingIsLookedAt) {
  ringFromBefore = makeRing();
  ASSERT_FALSE(Accelerators::arePresent());
  EXPECT_FALSE(KnownComms::of(ringFromBefore)->devices().mayUseDevices());
  Numbers in(Place::Process), out(Place::Process);
  in.set(World().rank);
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(isAllreducePassedOn(ringFromBefore, in, out, 0));
  EXPECT_NE(KnownComms::cached(ringFromBefore), nullptr); // the short way is open
}

TEST(Devices, ADriverThatComesLateIsNoticedAtTheFirstNewBuffer) {
  World world;
  if (world.rank == 0)
    driver.load();
  ASSERT_FALSE(Accelerators::arePresent());
  Numbers in(Place::Device), out(Place::Process);
  in.set(world.rank);
  for (int i = 0; i < 3; ++i)
    expectRefused(MPI_Allreduce(in.at(), out.at(), kCount, MPI_INT, MPI_SUM, ringFromBefore));
  EXPECT_EQ(Accelerators::arePresent(), world.rank == 0);
  EXPECT_EQ(KnownComms::cached(ringFromBefore) == nullptr, world.rank == 0);
}

TEST(Devices, WhatTheCpuMayUseIsServedWhereADriverCameLate) {
  EXPECT_FALSE(KnownComms::of(ringFromBefore)->devices().mayUseDevices());
  for (Place place : {Place::Process, Place::PageLocked, Place::Managed})
    EXPECT_FALSE(isAllreducePassedOn(ringFromBefore, place, place));
}

TEST(Devices, CallsOfOtherKindsFailOnAllRanksWhereADriverCameLate) {
  World world;
  Numbers in(Place::Device), out(Place::Process);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Iallreduce(in.at(), out.at(), kCount, MPI_INT, MPI_SUM, ringFromBefore, &request);
  expectRefused(code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code);
  code = COLLDSL_MPI_PERSISTENT(Allreduce_init)(in.at(), out.at(), kCount, MPI_INT, MPI_SUM,
                                                ringFromBefore, MPI_INFO_NULL, &request);
  if (code == MPI_SUCCESS)
    code = MPI_Start(&request);
  expectRefused(code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code);
  if (request != MPI_REQUEST_NULL)
    MPI_Request_free(&request);
  EXPECT_FALSE(isAllreducePassedOn(ringFromBefore, Place::Process, Place::Process));
}

TEST(Devices, NeighborsOfARankThatIsRefusedFail) {
  World world;
  Numbers in(Place::Device), out(Place::Process);
  int code = MPI_Neighbor_alltoall(in.at(), kCount / 2, MPI_INT, out.at(), kCount / 2, MPI_INT,
                                   ringFromBefore);
  bool isNeighbor = world.rank == 1 || world.rank == world.ranks - 1;
  EXPECT_EQ(classOf(code), world.rank == 0 ? MPI_ERR_BUFFER
                           : isNeighbor    ? MPI_ERR_TRUNCATE
                                           : MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(isAllreducePassedOn(ringFromBefore, Place::Process, Place::Process));
}

class NewRing : public testing::Test {
protected:
  void SetUp() override {
    ring_ = makeRing();
    ASSERT_TRUE(KnownComms::of(ring_)->devices().mayUseDevices());
  }
  void TearDown() override { MPI_Comm_free(&ring_); }
  World world_;
  MPI_Comm ring_ = MPI_COMM_NULL;
};

TEST_F(NewRing, AllRanksPassOnWhatOneHasOnADevice) {
  uint64_t before = forDevices(CallKind::Allreduce);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(isAllreducePassedOn(ring_, Place::Device, Place::Process));
    EXPECT_TRUE(isAllreducePassedOn(ring_, Place::Process, Place::Device));
    EXPECT_TRUE(isAllreducePassedOn(ring_, Place::Managed, Place::Managed));
    EXPECT_FALSE(isAllreducePassedOn(ring_, Place::Process, Place::Process));
    EXPECT_FALSE(isAllreducePassedOn(ring_, Place::PageLocked, Place::PageLocked));
  }
  EXPECT_EQ(forDevices(CallKind::Allreduce) - before, 9u);
}

TEST_F(NewRing, TheSameBuffersAreLookedAtEachTime) {
  Numbers host(Place::Process), device(Place::Device), out(Place::Process);
  for (int i = 0; i < 3; ++i) {
    host.set(world_.rank + i);
    device.set(world_.rank + i);
    EXPECT_FALSE(isAllreducePassedOn(ring_, host, out, i));
    EXPECT_TRUE(isAllreducePassedOn(ring_, device, out, i));
  }
}

TEST_F(NewRing, DuplicatesAndPartsAreAsTheWhole) {
  MPI_Comm copy, part;
  MPI_Comm_dup(ring_, &copy);
  MPI_Comm_split(ring_, 0, world_.rank, &part);
  for (MPI_Comm comm : {copy, part}) {
    EXPECT_TRUE(KnownComms::of(comm)->devices().mayUseDevices());
    EXPECT_TRUE(isAllreducePassedOn(comm, Place::Device, Place::Device));
    EXPECT_FALSE(isAllreducePassedOn(comm, Place::Process, Place::Process));
    MPI_Comm_free(&comm);
  }
}

// Away from the root the receive buffer is any address.
TEST_F(NewRing, OnlyBuffersThatARankUsesCount) {
  Numbers block(Place::Process, 1), all(Place::Process, world_.ranks), device(Place::Device);
  block.set(world_.rank);
  int root = world_.ranks - 1;
  bool isRoot = world_.rank == root;
  for (int i = 0; i < 2; ++i) {
    uint64_t before = passedOn(CallKind::Gather);
    MPI_Gather(block.at(), 1, MPI_INT, isRoot ? all.at() : device.at(), 1, MPI_INT, root, ring_);
    EXPECT_EQ(passedOn(CallKind::Gather), before);
    if (isRoot) {
      EXPECT_EQ(all.get(root), root);
    }
  }
  uint64_t before = passedOn(CallKind::Barrier);
  MPI_Barrier(ring_);
  EXPECT_EQ(passedOn(CallKind::Barrier), before);
}

TEST_F(NewRing, BuffersThatStartAtTheBottomAreFound) {
  for (Place place : {Place::Device, Place::Process}) {
    Numbers numbers(place);
    numbers.set(world_.rank);
    MPI_Aint address;
    int length = kCount;
    MPI_Datatype type;
    MPI_Get_address(numbers.at(), &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    uint64_t before = passedOn(CallKind::Bcast);
    EXPECT_EQ(MPI_Bcast(MPI_BOTTOM, 1, type, world_.ranks - 1, ring_), MPI_SUCCESS);
    EXPECT_EQ(passedOn(CallKind::Bcast) - before, place == Place::Device ? 1u : 0u);
    EXPECT_EQ(numbers.get(kCount - 1), world_.ranks - 1 + kCount - 1);
    MPI_Type_free(&type);
  }
}

TEST_F(NewRing, NeighborsAgreeToo) {
  for (Place place : {Place::Device, Place::Process}) {
    Numbers in(place, 2), out(place, 2);
    in.set(2 * world_.rank);
    uint64_t before = passedOn(CallKind::NeighborAlltoall);
    EXPECT_EQ(MPI_Neighbor_alltoall(in.at(), 1, MPI_INT, out.at(), 1, MPI_INT, ring_), MPI_SUCCESS);
    EXPECT_EQ(passedOn(CallKind::NeighborAlltoall) - before, place == Place::Device ? 1u : 0u);
    if (world_.ranks > 2) { // where MPIs are right
      EXPECT_EQ(out.get(0), 2 * ((world_.rank + world_.ranks - 1) % world_.ranks) + 1);
    }
  }
}

// Nonblocking ones may not wait for other ranks to agree.
TEST_F(NewRing, NonblockingCallsArePassedOnAndPersistentOnesAreAgreedOn) {
  for (Place place : {Place::Device, Place::Process}) {
    Numbers in(place), out(place);
    in.set(world_.rank);
    uint64_t before = forDevices(CallKind::Allreduce);
    MPI_Request requests[2];
    MPI_Iallreduce(in.at(), out.at(), kCount, MPI_INT, MPI_SUM, ring_, &requests[0]);
    EXPECT_EQ(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(out.get(1), sumOf(1, 0));
    COLLDSL_MPI_PERSISTENT(Allreduce_init)
    (in.at(), out.at(), kCount, MPI_INT, MPI_SUM, ring_, MPI_INFO_NULL, &requests[1]);
    MPI_Request_free(&requests[1]);
    EXPECT_EQ(forDevices(CallKind::Allreduce) - before, place == Place::Device ? 2u : 1u);
  }
}

} // namespace
} // namespace colldsl::mpi::test
