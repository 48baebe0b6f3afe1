#include "mpi/DeviceMemory.h"

#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::mpi {
namespace {

using AddsLoaded = decltype(dl_phdr_info::dlpi_adds);

// The drivers' interfaces, as their documentation has them.
using CudaQuery = int (*)(unsigned count, int *attributes, void **data, uintptr_t address);
using HipQuery = int (*)(unsigned count, int *attributes, void **data, void *address);
using HipVersion = int (*)(int *version);

constexpr int kMemoryType = 2, kIsManaged = 8; // attributes; the former is the same in HIP
constexpr unsigned kCudaDevice = 2;
// HIP renumbered its kinds of memory.
constexpr int kHipRenumbered = 60000000;
constexpr unsigned kOldHipHost = 0, kOldHipDevice = 1;
constexpr unsigned kHipUnregistered = 0, kHipHost = 1, kHipDevice = 2;

// Written under the lock. A driver's function is released to kindOf(), behind which its library is
// loaded, and that of HIP behind its version. addsSeen is stored last: a thread that finds it up to
// date has acquired the outcome of that look.
std::mutex lookLock;
std::atomic<AddsLoaded> addsSeen{0};
std::atomic<CudaQuery> cuda{nullptr};
std::atomic<HipQuery> hip{nullptr};
std::atomic<bool> isHipRenumbered{true};

/// The number of libraries loaded so far, which the first entry has.
AddsLoaded addsNow() {
  AddsLoaded adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *found) {
        *static_cast<AddsLoaded *>(found) = info->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

/// Paths of loaded libraries whose file name begins so. Nothing may be loaded meanwhile.
std::vector<std::string> loadedAs(std::string_view name) {
  struct Search {
    std::string_view name;
    std::vector<std::string> found;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &wanted = *static_cast<Search *>(data);
        std::string_view path = info->dlpi_name;
        if (path.substr(path.rfind('/') + 1).starts_with(wanted.name))
          wanted.found.emplace_back(path);
        return 0;
      },
      &search);
  return search.found;
}

/// A function of a loaded library, which then stays loaded; null: there is none.
template <typename Function> Function find(std::string_view library, const char *function) {
  for (const std::string &path : loadedAs(library))
    if (void *handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD))
      if (void *found = dlsym(handle, function))
        return reinterpret_cast<Function>(found);
  return nullptr;
}

void findHip() {
  int version = 0;
  if (hip.load(std::memory_order_relaxed))
    return;
  auto query = find<HipQuery>("libamdhip64.so", "hipDrvPointerGetAttributes");
  auto versionOf = find<HipVersion>("libamdhip64.so", "hipRuntimeGetVersion");
  isHipRenumbered.store(!versionOf || versionOf(&version) != 0 || version >= kHipRenumbered,
                        std::memory_order_relaxed);
  hip.store(query, std::memory_order_release);
}

// The attributes stay zero for an address that CUDA does not know, and before CUDA is initialized.
MemoryKind askCuda(CudaQuery query, const void *address) {
  unsigned type = 0, isManaged = 0;
  int attributes[] = {kMemoryType, kIsManaged};
  void *data[] = {&type, &isManaged};
  if (query(2, attributes, data, reinterpret_cast<uintptr_t>(address)) != 0)
    return MemoryKind::Host;
  if (isManaged)
    return MemoryKind::Managed;
  return type == kCudaDevice ? MemoryKind::Device : MemoryKind::Host;
}

MemoryKind askHip(HipQuery query, const void *address) {
  unsigned type = 0;
  int attribute = kMemoryType;
  void *data = &type;
  if (query(1, &attribute, &data, const_cast<void *>(address)) != 0)
    return MemoryKind::Host;
  bool isNew = isHipRenumbered.load(std::memory_order_relaxed);
  if (isNew ? type == kHipUnregistered || type == kHipHost : type == kOldHipHost)
    return MemoryKind::Host;
  return type == (isNew ? kHipDevice : kOldHipDevice) ? MemoryKind::Device : MemoryKind::Managed;
}

} // namespace

bool Accelerators::look() {
  AddsLoaded adds = addsNow();
  if (adds == addsSeen.load(std::memory_order_acquire))
    return arePresent();
  std::lock_guard lock(lookLock);
  if (!cuda.load(std::memory_order_relaxed))
    cuda.store(find<CudaQuery>("libcuda.so", "cuPointerGetAttributes"), std::memory_order_release);
  findHip();
  arePresent_.store(cuda.load(std::memory_order_relaxed) || hip.load(std::memory_order_relaxed),
                    std::memory_order_relaxed);
  addsSeen.store(adds, std::memory_order_release);
  return arePresent();
}

bool Accelerators::hasCuda() { return cuda.load(std::memory_order_acquire) != nullptr; }

MemoryKind Accelerators::kindOf(const void *address) {
  MemoryKind kind = MemoryKind::Host;
  if (CudaQuery query = cuda.load(std::memory_order_acquire))
    kind = askCuda(query, address);
  if (HipQuery query = hip.load(std::memory_order_acquire); query && kind == MemoryKind::Host)
    kind = askHip(query, address);
  return kind;
}

} // namespace colldsl::mpi
