#include "device/IpcMemory.h"

#include "device/PerContext.h"
#include "ir/Concat.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <random>
#include <unistd.h>

namespace colldsl::device {
namespace {

// Allocations of other processes that stay open for later runs.
constexpr size_t kMaxUnused = 256;

// Process ids are not enough: containers of one machine may have the same. A child of fork() has
// the memory of its parent, not its number.
uint64_t numberOfProcess() {
  static std::mutex mutex;
  static pid_t process = 0;
  static uint64_t number = 0;
  std::lock_guard lock(mutex);
  if (process != getpid()) {
    std::random_device random;
    number = uint64_t{random()} << 32 | random();
    process = getpid();
  }
  return number;
}

bool overlap(const ExportedMemory &a, const ExportedMemory &b) {
  return a.begin < b.begin + b.allocationBytes && b.begin < a.begin + a.allocationBytes;
}

} // namespace

Result<ExportedMemory> exportMemory(const CudaDriver &driver, const void *address, uint64_t bytes) {
  Result<Allocation> found = allocationOf(driver, address, bytes);
  if (!found)
    return found.status();
  CurrentContext current(driver, found->context);
  ExportedMemory exported{{},           numberOfProcess(),
                          found->id,    found->begin,
                          found->bytes, reinterpret_cast<DeviceAddress>(address) - found->begin};
  if (Status s = checkCuda(driver, driver.ipcGetMemHandle(&exported.handle, exported.begin),
                           "cuIpcGetMemHandle");
      !s)
    return Status::error(concat("the device memory at ", address,
                                " cannot be opened by other processes: ", s.message()));
  return exported;
}

OpenedMemory::~OpenedMemory() {
  if (cache_)
    cache_->release(*static_cast<IpcCache::Entry *>(entry_));
}

std::shared_ptr<IpcCache> IpcCache::of(const CudaDriver &driver, CuContext context) {
  static PerContext<IpcCache> all;
  return all.get(driver, context,
                 [&] { return std::make_shared<IpcCache>(driver, context, kMaxUnused); });
}

IpcCache::Run::Run(IpcCache &cache) : cache_(cache) {
  std::lock_guard lock(cache_.mutex_);
  ++cache_.runs_;
}

IpcCache::Run::~Run() {
  std::lock_guard lock(cache_.mutex_);
  --cache_.runs_;
  cache_.closeUnneeded();
}

IpcCache::~IpcCache() {
  maxUnused_ = 0;
  closeUnneeded();
}

Result<OpenedMemory> IpcCache::open(const ExportedMemory &exported) {
  if (exported.process == numberOfProcess()) {
    DeviceAddress address = exported.begin + exported.offset;
    Result<CuContext> own = contextOf(driver_, reinterpret_cast<void *>(address), 0);
    if (!own)
      return own.status();
    if (*own != context_)
      return Status::error("device memory of this process is of another context");
    return OpenedMemory(nullptr, nullptr, address);
  }
  std::lock_guard lock(mutex_);
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &entry) {
    return entry.exported.process == exported.process && entry.exported.id == exported.id &&
           std::memcmp(&entry.exported.handle, &exported.handle, sizeof exported.handle) == 0;
  });
  if (found == entries_.end()) {
    noteFreed(exported);
    closeUnneeded();
    if (!driver_.ipcOpenMemHandle)
      return Status::error("the driver of CUDA is too old to open memory of other processes: it "
                           "has no function cuIpcOpenMemHandle_v2");
    CurrentContext current(driver_, context_);
    DeviceAddress address = 0;
    if (Status s = checkCuda(
            driver_, driver_.ipcOpenMemHandle(&address, exported.handle, kIpcLazyPeerAccess),
            "cuIpcOpenMemHandle");
        !s)
      return Status::error(
          concat("device memory of another process cannot be opened: ", s.message()));
    entries_.push_front({exported, address, 0, false});
    found = entries_.begin();
  }
  entries_.splice(entries_.begin(), entries_, found);
  ++found->uses;
  return OpenedMemory(this, &*found, found->address + exported.offset);
}

size_t IpcCache::numOpen() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

void IpcCache::release(Entry &entry) {
  std::lock_guard lock(mutex_);
  assert(entry.uses > 0);
  if (--entry.uses == 0)
    closeUnneeded();
}

// An owner has one allocation at an address at a time.
void IpcCache::noteFreed(const ExportedMemory &by) {
  for (Entry &entry : entries_)
    entry.isFreed |= entry.exported.process == by.process && overlap(entry.exported, by);
}

void IpcCache::closeUnneeded() {
  size_t unused = 0;
  for (auto entry = entries_.begin(); entry != entries_.end() && runs_ == 0;) {
    bool isUnneeded = entry->uses == 0 && (entry->isFreed || ++unused > maxUnused_);
    entry = isUnneeded ? close(entry) : std::next(entry);
  }
}

std::list<IpcCache::Entry>::iterator IpcCache::close(std::list<Entry>::iterator entry) {
  if (CurrentContext current(driver_, context_); current)
    driver_.ipcCloseMemHandle(entry->address);
  return entries_.erase(entry);
}

} // namespace colldsl::device
