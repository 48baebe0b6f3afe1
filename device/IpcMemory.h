/// Device memory that processes of one machine open from each other, by handles of CUDA's driver.
///
///   owner      exportMemory(x) --> ExportedMemory, which travels in a message
///   other one  IpcCache::open(exported) --> an address of its own for the same bytes
///
/// Memory of pools, of address ranges that the program itself maps, and managed memory have no
/// handle. An allocation that others have opened is not freed, says the driver's documentation,
/// before all have closed it. Its owner can know when they no longer use it, but not when they
/// close it; here, as in UCX, it may free it then, and the bytes stay in use until the cache closes
/// them.
#pragma once

#include "device/CudaDriver.h"

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace colldsl::device {

/// Bytes of an allocation, for other processes of the machine. Trivially copyable.
struct ExportedMemory {
  CuIpcHandle handle;  ///< of the allocation
  uint64_t process;    ///< number of the process: no other one of the machine has it
  uint64_t id;         ///< of the allocation: no other one of the process has it
  DeviceAddress begin; ///< of the allocation, in its process
  uint64_t allocationBytes;
  uint64_t offset; ///< of the bytes, in the allocation
};

/// An error if the memory has no handle, or if its allocation ends before `bytes` bytes.
Result<ExportedMemory> exportMemory(const CudaDriver &driver, const void *address, uint64_t bytes);

class IpcCache;

/// Memory that a cache does not close while this lives. The cache outlives it.
class OpenedMemory {
public:
  OpenedMemory(OpenedMemory &&other) noexcept
      : cache_(std::exchange(other.cache_, nullptr)), entry_(other.entry_),
        address_(other.address_) {}
  OpenedMemory &operator=(OpenedMemory &&other) noexcept {
    std::swap(cache_, other.cache_);
    std::swap(entry_, other.entry_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~OpenedMemory();

  /// The address of the exported bytes, in the context of the cache.
  DeviceAddress address() const { return address_; }

private:
  friend class IpcCache;
  OpenedMemory(IpcCache *cache, void *entry, DeviceAddress address)
      : cache_(cache), entry_(entry), address_(address) {}

  IpcCache *cache_; ///< null: nothing to close
  void *entry_;
  DeviceAddress address_;
};

/// The allocations of other processes that are open in one context. Those that no user holds stay
/// open for the next time, up to a number, the ones used last; but for those whose owner has
/// exported a later allocation at their addresses, as it has freed them. Thread safe.
///
/// The driver may wait for all work of the device before it closes memory, and that work for a run
/// that the calling thread moves. So nothing is closed while runs are under way.
class IpcCache {
public:
  /// While one lives, nothing is closed. The cache outlives it.
  class Run {
  public:
    explicit Run(IpcCache &cache);
    ~Run();
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

  private:
    IpcCache &cache_;
  };

  /// The cache of the context, which all of its plans share: an allocation is opened once.
  static std::shared_ptr<IpcCache> of(const CudaDriver &driver, CuContext context);

  /// The driver and the context outlive it. `maxUnused`: number of allocations.
  IpcCache(const CudaDriver &driver, CuContext context, size_t maxUnused)
      : driver_(driver), context_(context), maxUnused_(maxUnused) {}
  /// Requires that no memory is in use.
  ~IpcCache();
  IpcCache(const IpcCache &) = delete;
  IpcCache &operator=(const IpcCache &) = delete;

  /// The memory may be used by work of the device until what this returns is destroyed. Memory of
  /// this process needs no opening, but has to be of the same context. Errors: the devices cannot
  /// reach each other, the owner has freed the memory, the driver is too old.
  Result<OpenedMemory> open(const ExportedMemory &exported);

  size_t numOpen() const;

private:
  friend class OpenedMemory;
  struct Entry {
    ExportedMemory exported;
    DeviceAddress address; ///< of the allocation
    uint32_t uses;
    bool isFreed; ///< by its owner
  };

  void release(Entry &entry);
  void noteFreed(const ExportedMemory &by);
  void closeUnneeded();
  std::list<Entry>::iterator close(std::list<Entry>::iterator entry);

  const CudaDriver &driver_;
  CuContext context_;
  size_t maxUnused_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_; ///< the one used last is the first
  uint32_t runs_ = 0;        ///< under way
};

} // namespace colldsl::device
