#include "mpi/comm/DeviceReach.h"

#include "device/IpcMemory.h"
#include "mpi/comm/ServedComm.h"
#include "mpi/operations/OwnAllreduce.h"
#include "runtime/MemoryReserve.h"

#include <cstring>

namespace colldsl::mpi {
namespace {

using device::ExportedMemory;

constexpr size_t kWords = sizeof(ExportedMemory) / sizeof(uint64_t);
static_assert(kWords * sizeof(uint64_t) == sizeof(ExportedMemory));

/// The export of this rank among zeros: the bitwise or over all ranks has the exports of all.
std::vector<uint64_t> exportAlone(const ServedComm &comm, const void *buffer) {
  std::vector<uint64_t> words(kWords * static_cast<size_t>(comm.ranks().count()));
  Result<const device::CudaDriver *> driver = device::cudaDriver();
  Result<ExportedMemory> own = driver ? device::exportMemory(**driver, buffer, 0) : driver.status();
  if (own)
    std::memcpy(&words[kWords * static_cast<size_t>(comm.ranks().self())], &*own, sizeof *own);
  return words;
}

bool opensAll(const std::vector<uint64_t> &words, int self, const void *buffer) {
  Result<const device::CudaDriver *> driver = device::cudaDriver();
  Result<device::CuContext> context =
      driver ? device::contextOf(**driver, buffer, 0) : driver.status();
  if (!context)
    return false;
  std::shared_ptr<device::IpcCache> cache = device::IpcCache::of(**driver, *context);
  for (size_t at = 0; at < words.size(); at += kWords) {
    ExportedMemory exported;
    std::memcpy(&exported, &words[at], sizeof exported);
    bool isOwn = at == kWords * static_cast<size_t>(self);
    if (!isOwn && !cache->open(exported))
      return false;
  }
  return true;
}

Status allreduce(ServedComm &comm, OwnAllreduce &numbers) {
  CommRuns &runs = comm.runs();
  Result<bool> isServed =
      unlessMemoryIsShort([&] { return numbers.prepare(comm, runs.last() + 1); });
  if (!isServed)
    runs.skip(CallKind::Allreduce, isServed.status());
  if (!isServed)
    return isServed.status();
  return *isServed ? numbers.run(runs.next()) : Status::error("allreduce is not served");
}

} // namespace

Result<bool> canReachEachOther(ServedComm &comm, const void *buffer) {
  std::vector<uint64_t> own = exportAlone(comm, buffer), all(own.size());
  OwnAllreduce exports(MPI_BOR, MPI_UINT64_T, static_cast<int>(own.size()), own.data(), all.data());
  if (Status s = allreduce(comm, exports); !s)
    return s;
  int fails = !opensAll(all, comm.ranks().self(), buffer), anyFails = 0;
  OwnAllreduce failures(MPI_MAX, MPI_INT, 1, &fails, &anyFails);
  if (Status s = allreduce(comm, failures); !s)
    return s;
  return anyFails == 0;
}

} // namespace colldsl::mpi
