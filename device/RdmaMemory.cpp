#include "device/RdmaMemory.h"

#include <unistd.h>

namespace colldsl::device {
namespace {

Result<int> ordinalOf(const CudaDriver &driver, DeviceAddress address) {
  int ordinal = 0;
  Status s = checkCuda(driver, driver.pointerGetAttribute(&ordinal, kPointerDeviceOrdinal, address),
                       "cuPointerGetAttribute");
  if (!s)
    return s;
  return ordinal;
}

// 0, which says no to every question, if the driver does not answer.
int attributeOf(const CudaDriver &driver, int ordinal, int which) {
  CuDevice device = 0;
  int value = 0;
  bool isKnown = driver.deviceGet && driver.deviceGetAttribute &&
                 driver.deviceGet(&device, ordinal) == kCudaSuccess &&
                 driver.deviceGetAttribute(&value, which, device) == kCudaSuccess;
  return isKnown ? value : 0;
}

// The driver takes whole pages of the host alone; an allocation may begin and end within one.
void exportDmaBuf(const CudaDriver &driver, RdmaMemory &memory) {
  if (!driver.memGetHandleForAddressRange ||
      attributeOf(driver, memory.ordinal, kDeviceExportsDmaBufs) == 0)
    return;
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  DeviceAddress begin = memory.allocation.begin & ~(page - 1);
  DeviceAddress end = (memory.allocation.begin + memory.allocation.bytes + page - 1) & ~(page - 1);
  int file = -1;
  CurrentContext current(driver, memory.allocation.context);
  if (!current || driver.memGetHandleForAddressRange(&file, begin, end - begin, kDmaBufHandle, 0) !=
                      kCudaSuccess)
    return;
  memory.dmaBuf = DmaBuf(file);
  memory.offset = memory.allocation.begin - begin;
}

} // namespace

DmaBuf::~DmaBuf() {
  if (file_ >= 0)
    close(file_);
}

Result<RdmaMemory> exportForRdma(const CudaDriver &driver, const void *address) {
  Result<Allocation> found = allocationOf(driver, address, 0);
  if (!found)
    return found.status();
  Result<int> ordinal = ordinalOf(driver, found->begin);
  if (!ordinal)
    return ordinal.status();
  RdmaMemory memory{*found, *ordinal, {}, 0};
  exportDmaBuf(driver, memory);
  return memory;
}

Status synchronizeCopies(const CudaDriver &driver, const Allocation &allocation) {
  if (!driver.pointerSetAttribute)
    return Status::error("the driver of CUDA has no function cuPointerSetAttribute");
  unsigned yes = 1;
  return checkCuda(driver, driver.pointerSetAttribute(&yes, kPointerSyncMemops, allocation.begin),
                   "cuPointerSetAttribute");
}

RemoteWrites remoteWritesOf(const CudaDriver &driver, const void *address) {
  Result<int> ordinal = ordinalOf(driver, reinterpret_cast<DeviceAddress>(address));
  if (!ordinal)
    return RemoteWrites::Unknown;
  if (attributeOf(driver, *ordinal, kDeviceOrdersRemoteWrites) >= kToOwner)
    return RemoteWrites::Ordered;
  bool flushes = driver.flushRemoteWrites &&
                 (attributeOf(driver, *ordinal, kDeviceFlushesRemoteWrites) & kFlushesForHost) != 0;
  return flushes ? RemoteWrites::Flushed : RemoteWrites::Unknown;
}

Status flushRemoteWrites(const CudaDriver &driver, CuContext context) {
  CurrentContext current(driver, context);
  if (!current)
    return Status::error("cuFlushGPUDirectRDMAWrites failed: the context of the device is gone");
  return checkCuda(driver, driver.flushRemoteWrites(kCurrentContext, kToOwner),
                   "cuFlushGPUDirectRDMAWrites");
}

} // namespace colldsl::device
