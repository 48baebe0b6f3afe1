// Contexts, memory and handles of the fake device.
#include "tests/device/FakeDevice.h"

#include "tests/device/FakeState.h"

#include <atomic>
#include <cstring>
#include <unistd.h>

namespace colldsl::test {
namespace {

FakeState &theState() {
  static FakeState state;
  return state;
}

// Contexts of a device that began anew are other ones.
constexpr uint32_t kMostContexts = 1024;
std::atomic<uintptr_t> resets = 0;

CuContext contextNumber(uint32_t i) {
  return reinterpret_cast<CuContext>(1 + resets * kMostContexts + i);
}

uint32_t numberOf(CuContext context) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(context) - 1) % kMostContexts);
}

template <typename T> CuResult store(void *value, T number) {
  std::memcpy(value, &number, sizeof number);
  return kCudaSuccess;
}

} // namespace

std::vector<CuContext> &fakeContexts() {
  thread_local std::vector<CuContext> contexts;
  return contexts;
}

// The fork of a process has the state of its parent.
FakeCall::FakeCall(const char *name)
    : state_(theState()), lock_(state_.mutex), fails_(state_.fails(name)) {}

void FakeState::clear(const FakeDeviceOptions &with) {
  options = with;
  isHeld = false;
  random.seed(with.seed);
  streams.clear();
  events.clear();
  modules.clear();
  functions.clear();
  graphs.clear();
  execs.clear();
  memory.clear();
  allocated.clear();
  locked.clear();
  calls.clear();
  synchronous.clear();
  remoteWrites.clear();
  flushes = 0;
  copies = kernels = accesses = toHost = toDevice = within = 0;
  misuse.clear();
  process = getpid();
}

void FakeState::complain(const std::string &what) {
  if (misuse.empty())
    misuse = what;
}

bool FakeState::fails(const char *call) {
  if (process != getpid())
    clear(options);
  return ++calls[call] == options.failCallAt && std::string(call) == options.failCall;
}

bool FakeState::hasContext() {
  if (fakeContexts().empty())
    complain("a call without a current context");
  return !fakeContexts().empty();
}

bool FakeState::isLocked(uint64_t address, uint64_t bytes) const {
  auto next = locked.upper_bound(address);
  return next != locked.begin() && address + bytes <= std::prev(next)->second;
}

bool FakeState::check(const FakeUse &use) {
  const FakeMemory::Range *range = memory.find(use.begin);
  bool isOnDevice = use.where != FakeUse::Where::Host && memory.contains(use.begin, use.bytes);
  if (range && FakeMemory::isFreedByOwner(*range))
    complain("work on memory that its owner has freed");
  else if (isOnDevice || (use.where != FakeUse::Where::Device && isLocked(use.begin, use.bytes)))
    return true;
  else
    complain(use.where == FakeUse::Where::Host ? "work on host memory that is not page-locked"
                                               : "work on memory that is not of the device");
  return false;
}

void FakeDevice::reset(const FakeDeviceOptions &options) {
  FakeCall call("reset");
  ++resets;
  call->clear(options);
}

const CudaDriver &FakeDevice::driver() {
  static const CudaDriver driver = [] {
    CudaDriver table;
#define COLLDSL_CUDA_CALL(member, symbol, parameters) table.member = symbol;
#include "device/CudaCalls.def"
    return table;
  }();
  return driver;
}

void *FakeDevice::allocate(uint64_t bytes, uint32_t context, FakeMemoryKind kind) {
  FakeCall call("allocate");
  return reinterpret_cast<void *>(call->memory.allocate(bytes, context, kind));
}

CuContext FakeDevice::context(uint32_t number) { return contextNumber(number); }

std::string FakeDevice::misuse() { return FakeCall("misuse")->misuse; }
void FakeDevice::noteRegistration() {
  FakeCall call("noteRegistration");
  call->hasContext();
  call->isUnsafe("a registration");
}

void FakeDevice::noteTransfer(const void *memory) {
  FakeCall call("noteTransfer");
  const FakeMemory::Range *range = call->memory.find(reinterpret_cast<uint64_t>(memory));
  if (range && !call->synchronous.count(range->id))
    call->complain("a network moves memory whose copies may return before they have ended");
}

uint64_t FakeDevice::calls(const char *symbol) { return FakeCall("calls")->calls[symbol]; }
uint64_t FakeDevice::copies() { return FakeCall("copies")->copies; }
uint64_t FakeDevice::kernels() { return FakeCall("kernels")->kernels; }
uint64_t FakeDevice::kernelAccesses() { return FakeCall("kernelAccesses")->accesses; }
uint64_t FakeDevice::loadedKernels() {
  FakeCall call("loadedKernels");
  uint64_t count = 0;
  for (const auto &[handle, module] : call->modules)
    count += module.second.functions().size();
  return count;
}
uint64_t FakeDevice::bytesToHost() { return FakeCall("bytesToHost")->toHost; }
uint64_t FakeDevice::bytesToDevice() { return FakeCall("bytesToDevice")->toDevice; }
uint64_t FakeDevice::bytesWithin() { return FakeCall("bytesWithin")->within; }

uint64_t FakeDevice::flushes() { return FakeCall("flushes")->flushes; }

void FakeDevice::writeRemotely(std::function<void()> write) {
  FakeCall call("writeRemotely");
  if (call->options.ordersRemoteWrites)
    write();
  else
    call->remoteWrites.push_back(std::move(write));
}

uint64_t FakeDevice::left() {
  FakeCall call("left");
  return call->streams.size() - call->streams.count(nullptr) + call->events.size() +
         call->modules.size() + call->graphs.size() + call->execs.size() + call->locked.size() +
         call->allocated.size() + call->memory.numOpened();
}

extern "C" {

CuResult cuInit(unsigned) { return kCudaSuccess; }

CuResult cuGetErrorName(CuResult error, const char **name) {
  *name = error == kCudaSuccess                 ? "CUDA_SUCCESS"
          : error == kCudaInvalidValue          ? "CUDA_ERROR_INVALID_VALUE"
          : error == kCudaOutOfMemory           ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kCudaInvalidContext        ? "CUDA_ERROR_INVALID_CONTEXT"
          : error == kCudaInvalidPtx            ? "CUDA_ERROR_INVALID_PTX"
          : error == kCudaNotFound              ? "CUDA_ERROR_NOT_FOUND"
          : error == kCudaPeerAccessUnsupported ? "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"
          : error == kCudaInvalidHandle         ? "CUDA_ERROR_INVALID_HANDLE"
          : error == kCudaNotReady              ? "CUDA_ERROR_NOT_READY"
          : error == kCudaIllegalAddress        ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == kCudaCaptureUnsupported    ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
          : error == kCudaCaptureImplicit       ? "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"
          : error == kCudaCapturedEvent         ? "CUDA_ERROR_CAPTURED_EVENT"
                                                : nullptr;
  return *name ? kCudaSuccess : kCudaInvalidValue;
}

CuResult cuPointerGetAttribute(void *value, int attribute, DeviceAddress address) {
  FakeCall call("cuPointerGetAttribute");
  if (call.fails())
    return kCudaIllegalAddress;
  const FakeMemory::Range *range = call->memory.find(address);
  if (!range)
    return kCudaInvalidValue;
  switch (attribute) {
  case kPointerContext:
    return store(value,
                 range->kind == FakeMemoryKind::Pool ? nullptr : contextNumber(range->context));
  case kPointerMemoryType:
    return store(value, kDeviceMemoryType);
  case kPointerBufferId:
    return store(value, range->id);
  case kPointerDeviceOrdinal:
    return store(value, static_cast<int>(range->context));
  case kPointerRangeStart:
    return store(value, range->begin);
  case kPointerRangeSize:
    return store(value, size_t{range->bytes});
  }
  return kCudaInvalidValue;
}

CuResult cuPointerSetAttribute(const void *value, int attribute, DeviceAddress address) {
  FakeCall call("cuPointerSetAttribute");
  const FakeMemory::Range *range = call->memory.find(address);
  unsigned isSet = 0;
  std::memcpy(&isSet, value, sizeof isSet);
  if (call.fails() || !range || attribute != kPointerSyncMemops || isSet != 1)
    return kCudaInvalidValue;
  call->synchronous.insert(range->id);
  return kCudaSuccess;
}

CuResult cuDeviceGet(CuDevice *device, int ordinal) {
  *device = ordinal;
  return kCudaSuccess;
}

CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice) {
  FakeCall call("cuDeviceGetAttribute");
  if (call.fails())
    return kCudaInvalidValue;
  switch (attribute) {
  case kDeviceFlushesRemoteWrites:
    return store(value, call->options.flushesRemoteWrites ? kFlushesForHost : 0);
  case kDeviceOrdersRemoteWrites:
    return store(value, call->options.ordersRemoteWrites ? kToOwner : 0);
  case kDeviceExportsDmaBufs:
    return store(value, int{call->options.exportsDmaBufs});
  }
  return kCudaInvalidValue;
}

CuResult cuMemGetHandleForAddressRange(void *handle, DeviceAddress address, size_t bytes, int type,
                                       unsigned long long) {
  FakeCall call("cuMemGetHandleForAddressRange");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call.fails() || !call->options.exportsDmaBufs || type != kDmaBufHandle)
    return kCudaInvalidValue;
  int file = call->memory.exportPages(address, bytes);
  if (file < 0)
    return kCudaInvalidValue;
  return store(handle, file);
}

CuResult cuFlushGPUDirectRDMAWrites(int target, int scope) {
  FakeCall call("cuFlushGPUDirectRDMAWrites");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call.fails() || !call->options.flushesRemoteWrites || target != kCurrentContext ||
      scope != kToOwner)
    return kCudaInvalidValue;
  ++call->flushes;
  for (auto &write : std::exchange(call->remoteWrites, {}))
    write();
  return kCudaSuccess;
}

CuResult cuCtxPushCurrent_v2(CuContext context) {
  fakeContexts().push_back(context);
  return kCudaSuccess;
}

CuResult cuCtxPopCurrent_v2(CuContext *context) {
  if (fakeContexts().empty())
    return kCudaInvalidContext;
  *context = fakeContexts().back();
  fakeContexts().pop_back();
  return kCudaSuccess;
}

CuResult cuMemAlloc_v2(DeviceAddress *address, size_t bytes) {
  FakeCall call("cuMemAlloc_v2");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call->isUnsafe("cuMemAlloc_v2"))
    return kCudaCaptureUnsupported;
  if (bytes == 0)
    return kCudaInvalidValue;
  uint64_t made = call.fails() ? 0
                               : call->memory.allocate(bytes, numberOf(fakeContexts().back()),
                                                       FakeMemoryKind::Plain);
  if (made == 0)
    return kCudaOutOfMemory;
  call->allocated.insert(made);
  *address = made;
  return kCudaSuccess;
}

CuResult cuMemFree_v2(DeviceAddress address) {
  {
    FakeCall call("cuMemFree_v2");
    if (!call->hasContext())
      return kCudaInvalidContext;
    if (call->isUnsafe("cuMemFree_v2"))
      return kCudaCaptureUnsupported;
    if (call.fails())
      return kCudaIllegalAddress;
    const FakeMemory::Range *range = call->memory.find(address);
    if (range && call->isInUse(range->begin, range->bytes))
      call->complain("memory is freed that work under way touches");
  }
  waitForFakeDevice();
  FakeCall call("free");
  call->allocated.erase(address);
  return call->memory.free(address) ? kCudaSuccess : kCudaInvalidValue;
}

CuResult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned) {
  FakeCall call("cuMemHostRegister_v2");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call->isUnsafe("cuMemHostRegister_v2"))
    return kCudaCaptureUnsupported;
  if (call.fails())
    return kCudaIllegalAddress;
  auto begin = reinterpret_cast<uint64_t>(memory);
  call->locked[begin] = begin + bytes;
  return kCudaSuccess;
}

CuResult cuMemHostUnregister(void *memory) {
  FakeCall call("cuMemHostUnregister");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call->isUnsafe("cuMemHostUnregister"))
    return kCudaCaptureUnsupported;
  if (call.fails())
    return kCudaIllegalAddress;
  auto found = call->locked.find(reinterpret_cast<uint64_t>(memory));
  if (found == call->locked.end())
    return kCudaInvalidValue;
  if (call->isInUse(found->first, found->second - found->first))
    call->complain("memory is unlocked that work under way touches");
  call->locked.erase(found);
  return kCudaSuccess;
}

CuResult cuMemHostGetDevicePointer_v2(DeviceAddress *address, void *host, unsigned) {
  FakeCall call("cuMemHostGetDevicePointer_v2");
  auto at = reinterpret_cast<uint64_t>(host);
  if (call.fails() || !call->isLocked(at, 1))
    return kCudaInvalidValue;
  *address = at | kFakeAlias;
  return kCudaSuccess;
}

CuResult cuIpcGetMemHandle(CuIpcHandle *handle, DeviceAddress address) {
  FakeCall call("cuIpcGetMemHandle");
  return call.fails() ? kCudaOutOfMemory : call->memory.handleOf(address, *handle);
}

CuResult cuIpcOpenMemHandle_v2(DeviceAddress *address, CuIpcHandle handle, unsigned flags) {
  FakeCall call("cuIpcOpenMemHandle_v2");
  if (!call->hasContext())
    return kCudaInvalidContext;
  if (call->isUnsafe("cuIpcOpenMemHandle_v2"))
    return kCudaCaptureUnsupported;
  if (call.fails())
    return kCudaOutOfMemory;
  bool reachesPeers = call->options.reachesPeers && flags == kIpcLazyPeerAccess;
  return call->memory.open(handle, numberOf(fakeContexts().back()), reachesPeers, *address);
}

CuResult cuIpcCloseMemHandle(DeviceAddress address) {
  {
    FakeCall call("cuIpcCloseMemHandle");
    if (!call->hasContext())
      return kCudaInvalidContext;
    if (call->isUnsafe("cuIpcCloseMemHandle"))
      return kCudaCaptureUnsupported;
    if (call.fails())
      return kCudaIllegalAddress;
    const FakeMemory::Range *range = call->memory.find(address);
    if (range && range->opens == 1 && call->isInUse(range->begin, range->bytes))
      call->complain("memory is closed that work under way touches");
  }
  waitForFakeDevice();
  return FakeCall("close")->memory.close(address);
}

} // extern "C"
} // namespace colldsl::test
