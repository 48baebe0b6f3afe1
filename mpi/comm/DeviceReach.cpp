#include "mpi/comm/DeviceReach.h"

#include "mpi/comm/ServedComm.h"
#include "mpi/operations/OwnAllreduce.h"
#include "runtime/MemoryReserve.h"

#include <cstring>

namespace colldsl::mpi {
namespace {

using device::ExportedMemory;

constexpr size_t kWords = sizeof(ExportedMemory) / sizeof(uint64_t);
static_assert(kWords * sizeof(uint64_t) == sizeof(ExportedMemory));

/// The exports of all ranks; of one rank, with zeros in place of those of the others. The bitwise
/// or of all of these has all.
class Exports {
public:
  explicit Exports(const ServedComm &comm)
      : self_(static_cast<size_t>(comm.ranks().self())),
        words_(kWords * static_cast<size_t>(comm.ranks().count())), all_(words_.size()) {}

  void setOwn(const ExportedMemory &own) { std::memcpy(&words_[kWords * self_], &own, sizeof own); }
  OwnAllreduce gathering() {
    return {MPI_BOR, MPI_UINT64_T, static_cast<int>(words_.size()), words_.data(), all_.data()};
  }
  bool canOpenAll(device::IpcCache &cache) const {
    for (size_t at = 0; at < all_.size(); at += kWords) {
      ExportedMemory exported;
      std::memcpy(&exported, &all_[at], sizeof exported);
      if (at != kWords * self_ && !cache.open(exported))
        return false;
    }
    return true;
  }

private:
  size_t self_;
  std::vector<uint64_t> words_, all_;
};

/// Makes numbers and combines them over the ranks. False, on all ranks: they are not served.
template <typename Make> Result<bool> allreduce(ServedComm &comm, Make make) {
  CommRuns &runs = comm.runs();
  std::optional<OwnAllreduce> numbers;
  Result<bool> isServed = unlessMemoryIsShort([&] {
    numbers.emplace(make());
    return numbers->prepare(comm, runs.last() + 1);
  });
  if (!isServed)
    runs.skip(CallKind::Allreduce, isServed.status());
  if (!isServed || !*isServed)
    return isServed;
  if (Status s = numbers->run(runs.next()); !s)
    return s;
  return true;
}

} // namespace

Result<bool> canReachEachOther(ServedComm &comm, const device::CudaDriver &driver,
                               const void *buffer, device::IpcCache &cache) {
  std::optional<Exports> exports;
  Result<bool> isServed = allreduce(comm, [&] {
    exports.emplace(comm);
    if (Result<ExportedMemory> own = device::exportMemory(driver, buffer, 0))
      exports->setOwn(*own);
    return exports->gathering();
  });
  if (!isServed || !*isServed)
    return isServed;
  int fails = !exports->canOpenAll(cache), anyFails = 0;
  isServed = allreduce(comm, [&] { return OwnAllreduce(MPI_MAX, MPI_INT, 1, &fails, &anyFails); });
  return isServed && *isServed ? Result<bool>(anyFails == 0) : isServed;
}

} // namespace colldsl::mpi
