#include "tests/device/FakeDevice.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace colldsl::test {
namespace {

using namespace colldsl::device;

constexpr CuResult kInvalidContext = 201;
constexpr CuResult kIllegalAddress = 700;
constexpr int kMeaningless = 0xA5;

struct Work {
  enum class Kind : uint8_t { Copy, Event } kind;
  uint64_t number = 0; ///< of a copy
  void *to = nullptr;
  const void *from = nullptr;
  size_t bytes = 0;
  CuEvent event = nullptr;
};

struct FakeStream {
  std::deque<Work> work;
  CuResult state = kCudaSuccess;
};

struct FakeEvent {
  CuResult state = kCudaSuccess; ///< as the driver has it before the first record
};

struct Allocation {
  std::unique_ptr<std::byte[]> memory;
  uint64_t bytes;
  uint32_t context;
};

struct Device {
  std::mutex mutex;
  FakeDeviceOptions options;
  std::mt19937_64 random{1};
  std::map<CuStream, FakeStream> streams;
  std::map<CuEvent, FakeEvent> events;
  std::map<uint64_t, Allocation> allocations;
  std::map<uint64_t, uint64_t> locked; ///< ranges, by begin
  uint64_t copies = 0, toHost = 0, toDevice = 0, within = 0, handles = 0;
  std::string misuse;

  void complain(const char *what) {
    if (misuse.empty())
      misuse = what;
  }
  template <typename Handle> Handle newHandle() {
    return reinterpret_cast<Handle>(uintptr_t{0x1000} + ++handles * 16);
  }
  const Allocation *allocationOf(uint64_t address) const {
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin())
      return nullptr;
    --next;
    return address < next->first + next->second.bytes ? &next->second : nullptr;
  }
  bool isLocked(uint64_t address, uint64_t bytes) const {
    auto next = locked.upper_bound(address);
    return next != locked.begin() && address + bytes <= std::prev(next)->second;
  }
  bool isOnDevice(uint64_t address, uint64_t bytes) const {
    const Allocation *found = allocationOf(address);
    return found &&
           address + bytes <= reinterpret_cast<uint64_t>(found->memory.get()) + found->bytes;
  }
};

Device &theDevice() {
  static Device device;
  return device;
}

thread_local std::vector<CuContext> contexts;

CuContext contextNumber(uint32_t i) { return reinterpret_cast<CuContext>(uintptr_t{1} + i); }

// The oldest work of one stream. False: there is none that could run.
bool runOne(Device &device) {
  std::vector<FakeStream *> busy;
  for (auto &[handle, stream] : device.streams)
    if (!stream.work.empty() &&
        !(stream.work.front().kind == Work::Kind::Copy && device.options.stallAt != 0 &&
          stream.work.front().number == device.options.stallAt))
      busy.push_back(&stream);
  if (busy.empty())
    return false;
  FakeStream &stream = *busy[device.random() % busy.size()];
  Work work = stream.work.front();
  stream.work.pop_front();
  if (work.kind == Work::Kind::Event) {
    device.events[work.event].state = stream.state;
  } else if (stream.state == kCudaSuccess) {
    if (work.number == device.options.failStreamAt)
      stream.state = kIllegalAddress;
    else
      std::memcpy(work.to, work.from, work.bytes);
  }
  return true;
}

CuResult fakeInit(unsigned) { return kCudaSuccess; }

CuResult fakeGetErrorName(CuResult error, const char **name) {
  *name = error == kCudaSuccess        ? "CUDA_SUCCESS"
          : error == kCudaInvalidValue ? "CUDA_ERROR_INVALID_VALUE"
          : error == kInvalidContext   ? "CUDA_ERROR_INVALID_CONTEXT"
          : error == kCudaNotReady     ? "CUDA_ERROR_NOT_READY"
          : error == kIllegalAddress   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                       : nullptr;
  return *name ? kCudaSuccess : kCudaInvalidValue;
}

CuResult fakePointerGetAttribute(void *value, int attribute, DeviceAddress address) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  const Allocation *found = device.allocationOf(address);
  if (!found)
    return kCudaInvalidValue;
  auto store = [&](auto number) {
    std::memcpy(value, &number, sizeof number);
    return kCudaSuccess;
  };
  switch (attribute) {
  case kPointerContext:
    return store(contextNumber(found->context));
  case kPointerMemoryType:
    return store(kDeviceMemoryType);
  case kPointerRangeStart:
    return store(reinterpret_cast<DeviceAddress>(found->memory.get()));
  case kPointerRangeSize:
    return store(size_t{found->bytes});
  }
  return kCudaInvalidValue;
}

CuResult fakeCtxPushCurrent(CuContext context) {
  contexts.push_back(context);
  return kCudaSuccess;
}

CuResult fakeCtxPopCurrent(CuContext *context) {
  if (contexts.empty())
    return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return kCudaSuccess;
}

bool hasContext(Device &device) {
  if (contexts.empty())
    device.complain("a call without a current context");
  return !contexts.empty();
}

CuResult fakeMemHostRegister(void *memory, size_t bytes, unsigned) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  if (!hasContext(device))
    return kInvalidContext;
  auto begin = reinterpret_cast<uint64_t>(memory);
  device.locked[begin] = begin + bytes;
  return kCudaSuccess;
}

CuResult fakeMemHostUnregister(void *memory) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  if (!hasContext(device))
    return kInvalidContext;
  return device.locked.erase(reinterpret_cast<uint64_t>(memory)) ? kCudaSuccess : kCudaInvalidValue;
}

CuResult fakeStreamCreate(CuStream *stream, unsigned) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  if (!hasContext(device))
    return kInvalidContext;
  *stream = device.newHandle<CuStream>();
  device.streams[*stream];
  return kCudaSuccess;
}

CuResult fakeStreamDestroy(CuStream stream) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  return device.streams.erase(stream) ? kCudaSuccess : kCudaInvalidValue;
}

enum class Side : uint8_t { Host, Device };

// Work that has not run yet may read the target of a copy that comes after it.
bool isReadLater(const Device &device, const std::byte *to, size_t bytes) {
  for (const auto &[handle, stream] : device.streams)
    for (const Work &work : stream.work) {
      auto *from = static_cast<const std::byte *>(work.from);
      if (work.kind == Work::Kind::Copy && from < to + bytes && to < from + work.bytes)
        return true;
    }
  return false;
}

CuResult beginCopy(void *to, Side toSide, const void *from, Side fromSide, size_t bytes,
                   CuStream stream) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  if (!hasContext(device))
    return kInvalidContext;
  auto found = device.streams.find(stream);
  auto check = [&](const void *memory, Side side) {
    auto address = reinterpret_cast<uint64_t>(memory);
    if (side == Side::Host && !device.isLocked(address, bytes))
      device.complain("a copy of host memory that is not page-locked");
    if (side == Side::Device && !device.isOnDevice(address, bytes))
      device.complain("a copy of memory that is not of the device");
  };
  check(to, toSide);
  check(from, fromSide);
  if (found == device.streams.end() || !device.misuse.empty())
    return kCudaInvalidValue;
  uint64_t number = ++device.copies;
  if (number == device.options.failCopyAt)
    return kIllegalAddress;
  (toSide == Side::Host     ? device.toHost
   : fromSide == Side::Host ? device.toDevice
                            : device.within) += bytes;
  if (!isReadLater(device, static_cast<const std::byte *>(to), bytes))
    std::memset(to, kMeaningless, bytes);
  found->second.work.push_back({Work::Kind::Copy, number, to, from, bytes, nullptr});
  return kCudaSuccess;
}

CuResult fakeMemcpyDtoHAsync(void *host, DeviceAddress from, size_t bytes, CuStream stream) {
  return beginCopy(host, Side::Host, reinterpret_cast<const void *>(from), Side::Device, bytes,
                   stream);
}

CuResult fakeMemcpyHtoDAsync(DeviceAddress to, const void *host, size_t bytes, CuStream stream) {
  return beginCopy(reinterpret_cast<void *>(to), Side::Device, host, Side::Host, bytes, stream);
}

CuResult fakeMemcpyDtoDAsync(DeviceAddress to, DeviceAddress from, size_t bytes, CuStream stream) {
  return beginCopy(reinterpret_cast<void *>(to), Side::Device, reinterpret_cast<const void *>(from),
                   Side::Device, bytes, stream);
}

CuResult fakeEventCreate(CuEvent *event, unsigned) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  if (!hasContext(device))
    return kInvalidContext;
  *event = device.newHandle<CuEvent>();
  device.events[*event];
  return kCudaSuccess;
}

CuResult fakeEventDestroy(CuEvent event) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  return device.events.erase(event) ? kCudaSuccess : kCudaInvalidValue;
}

CuResult fakeEventRecord(CuEvent event, CuStream stream) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  auto found = device.streams.find(stream);
  if (found == device.streams.end() || !device.events.count(event))
    return kCudaInvalidValue;
  device.events[event].state = kCudaNotReady;
  found->second.work.push_back({Work::Kind::Event, 0, nullptr, nullptr, 0, event});
  return kCudaSuccess;
}

CuResult fakeEventQuery(CuEvent event) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  for (uint64_t steps = device.random() % 4; steps > 0 && runOne(device);)
    --steps;
  auto found = device.events.find(event);
  return found == device.events.end() ? kCudaInvalidValue : found->second.state;
}

} // namespace

void FakeDevice::reset(const FakeDeviceOptions &options) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  device.options = options;
  device.random.seed(options.seed);
  device.streams.clear();
  device.events.clear();
  device.allocations.clear();
  device.locked.clear();
  device.copies = device.toHost = device.toDevice = device.within = 0;
  device.misuse.clear();
}

const CudaDriver &FakeDevice::driver() {
  static const CudaDriver driver = [] {
    CudaDriver table;
    table.init = fakeInit;
    table.getErrorName = fakeGetErrorName;
    table.pointerGetAttribute = fakePointerGetAttribute;
    table.ctxPushCurrent = fakeCtxPushCurrent;
    table.ctxPopCurrent = fakeCtxPopCurrent;
    table.memHostRegister = fakeMemHostRegister;
    table.memHostUnregister = fakeMemHostUnregister;
    table.streamCreate = fakeStreamCreate;
    table.streamDestroy = fakeStreamDestroy;
    table.memcpyDtoHAsync = fakeMemcpyDtoHAsync;
    table.memcpyHtoDAsync = fakeMemcpyHtoDAsync;
    table.memcpyDtoDAsync = fakeMemcpyDtoDAsync;
    table.eventCreate = fakeEventCreate;
    table.eventDestroy = fakeEventDestroy;
    table.eventRecord = fakeEventRecord;
    table.eventQuery = fakeEventQuery;
    return table;
  }();
  return driver;
}

void *FakeDevice::allocate(uint64_t bytes, uint32_t context) {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  auto memory = std::make_unique<std::byte[]>(bytes + 1); // an address of its own, if empty
  void *address = memory.get();
  device.allocations[reinterpret_cast<uint64_t>(address)] = {std::move(memory), bytes, context};
  return address;
}

std::string FakeDevice::misuse() {
  std::lock_guard guard(theDevice().mutex);
  return theDevice().misuse;
}

uint64_t FakeDevice::copies() {
  std::lock_guard guard(theDevice().mutex);
  return theDevice().copies;
}

uint64_t FakeDevice::bytesToHost() {
  std::lock_guard guard(theDevice().mutex);
  return theDevice().toHost;
}

uint64_t FakeDevice::bytesToDevice() {
  std::lock_guard guard(theDevice().mutex);
  return theDevice().toDevice;
}

uint64_t FakeDevice::bytesWithin() {
  std::lock_guard guard(theDevice().mutex);
  return theDevice().within;
}

uint64_t FakeDevice::left() {
  Device &device = theDevice();
  std::lock_guard guard(device.mutex);
  return device.streams.size() + device.events.size() + device.locked.size();
}

} // namespace colldsl::test
