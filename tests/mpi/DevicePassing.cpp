// Collectives of buffers in memory of all kinds that a real driver of CUDA gives, on an MPI that
// may be given such memory: the calls of PMPI below copy it to the host and back. Expects that a
// collective is served where all buffers are of devices, which reach each other, or none is; that
// all ranks pass it on where only some are, where one is managed, and along a topology; and that
// results are right.
//
// Needs no CUDA to be built. Exit code: 0: all right; 1: something is wrong; 77: there is no
// driver, or no device.
#include "tests/mpi/Inputs/cuda-aware.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {

constexpr int kCount = kAwareCount;
constexpr unsigned kAttachGlobal = 1;

void *driver;
int rank, ranks, wrong;

template <typename... Parameters> int call(const char *name, Parameters... given) {
  void *found = dlsym(driver, name);
  return found ? reinterpret_cast<int (*)(Parameters...)>(found)(given...) : -1;
}

/// With unified addresses the driver finds out in which memory both are.
void copy(void *to, const void *from, size_t bytes) {
  int code =
      call("cuMemcpy", reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes);
  if (code != 0) {
    std::printf("rank %d: cuMemcpy fails (%d)\n", rank, code);
    std::exit(1);
  }
}

enum class Place { Process, PageLocked, Managed, Device };
constexpr const char *kPlaces[] = {"malloc", "page-locked", "managed", "device"};

/// Numbers in memory of a kind.
class Numbers {
public:
  Numbers(Place place, int count) : count_(static_cast<size_t>(count)) {
    size_t bytes = count_ * sizeof(int);
    int code = 0;
    if (place == Place::Process)
      at_ = std::malloc(bytes);
    else if (place == Place::PageLocked)
      code = call("cuMemAllocHost_v2", &at_, bytes);
    else if (place == Place::Managed)
      code = call("cuMemAllocManaged", &at_, bytes, kAttachGlobal);
    else
      code = call("cuMemAlloc_v2", &at_, bytes);
    if (code != 0 || !at_) {
      std::printf("rank %d: no %s memory (%d)\n", rank, kPlaces[static_cast<int>(place)], code);
      std::exit(1);
    }
  }
  int *at() const { return static_cast<int *>(at_); }
  void set(int first) {
    std::vector<int> values(count_);
    for (size_t i = 0; i < count_; ++i)
      values[i] = first + static_cast<int>(i);
    copy(at_, values.data(), count_ * sizeof(int));
  }
  std::vector<int> get() const {
    std::vector<int> values(count_);
    copy(values.data(), at_, count_ * sizeof(int));
    return values;
  }

private:
  size_t count_;
  void *at_ = nullptr; ///< kept: the driver frees it with the process
};

void expect(bool isRight, const char *what, const char *place) {
  if (isRight)
    return;
  std::printf("rank %d: %s, %s: WRONG\n", rank, what, place);
  ++wrong;
}

/// One collective each; where ranks below `with` have their buffers in the place, others in the
/// process.
void tryAll(Place place, int with, MPI_Comm ring) {
  bool isManaged = place == Place::Managed, isOnDevice = place == Place::Device;
  bool isPassedOn = isManaged || (isOnDevice && with < ranks);
  Place mine = rank < with ? place : Place::Process;
  std::string of =
      std::string(kPlaces[static_cast<int>(place)]) + " at " + std::to_string(with) + " ranks";
  Numbers in(mine, kCount), out(mine, kCount), all(mine, kCount * ranks), around(mine, kCount * 2);
  int before = callsBelow(), calls = 0;
  auto count = [&](const char *what, bool isBelow) {
    calls += isBelow;
    expect(callsBelow() - before == calls, what, of.c_str());
  };

  in.set(rank);
  MPI_Allreduce(in.at(), out.at(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::vector<int> got = out.get();
  for (int i = 0; i < kCount; ++i)
    if (got[static_cast<size_t>(i)] != ranks * i + ranks * (ranks - 1) / 2) {
      expect(false, "sum of an allreduce", of.c_str());
      break;
    }
  count("allreduce", isPassedOn);

  in.set(rank == ranks - 1 ? 77 : 0);
  MPI_Bcast(in.at(), kCount, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  expect(in.get().back() == 77 + kCount - 1, "broadcast's data", of.c_str());
  count("broadcast", isPassedOn);

  in.set(100 * rank);
  MPI_Allgather(in.at(), kCount, MPI_INT, all.at(), kCount, MPI_INT, MPI_COMM_WORLD);
  got = all.get();
  for (int r = 0; r < ranks; ++r)
    expect(got[static_cast<size_t>(r * kCount + 1)] == 100 * r + 1, "allgather's data", of.c_str());
  count("allgather", isPassedOn);

  MPI_Neighbor_allgather(in.at(), kCount, MPI_INT, around.at(), kCount, MPI_INT, ring);
  got = around.get();
  expect(got[0] == 100 * ((rank + ranks - 1) % ranks), "left neighbour's data", of.c_str());
  expect(got[kCount] == 100 * ((rank + 1) % ranks), "right neighbour's data", of.c_str());
  count("neighbour allgather", isManaged || isOnDevice);
}

/// Microseconds per call of an allreduce.
double timeOf(Place place) {
  Numbers in(place, kCount), out(place, kCount);
  in.set(rank);
  constexpr int kTimes = 2000;
  double start = 0;
  for (int i = -kTimes; i < kTimes; ++i) {
    if (i == 0)
      start = MPI_Wtime();
    MPI_Allreduce(in.at(), out.at(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / kTimes * 1e6;
}

int startDriver() {
  int device = 0;
  void *context = nullptr;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver || call("cuInit", 0u) != 0 || call("cuDeviceGet", &device, 0) != 0)
    return 77;
  bool isThere = call("cuDevicePrimaryCtxRetain", &context, device) == 0 &&
                 call("cuCtxSetCurrent", context) == 0;
  return isThere ? 0 : 77;
}

} // namespace

int main(int argc, char **argv) {
  if (startDriver() != 0) {
    std::printf("skipped: there is no driver of CUDA, or no device\n");
    return 77;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int isPeriodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &isPeriodic, 0, &ring);
  for (Place place : {Place::Process, Place::PageLocked, Place::Managed, Place::Device})
    for (int with : {ranks, 1})
      for (int times = 0; times < 3; ++times)
        tryAll(place, with, ring);
  for (Place place : {Place::Process, Place::PageLocked, Place::Device}) {
    double us = timeOf(place);
    if (rank == 0)
      std::printf("allreduce of 8 bytes, %s: %.2f us\n", kPlaces[static_cast<int>(place)], us);
  }
  int wrongOfAll = 0;
  MPI_Allreduce(&wrong, &wrongOfAll, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%d ranks, %d wrong\n", ranks, wrongOfAll);
  MPI_Finalize();
  return wrongOfAll != 0;
}
