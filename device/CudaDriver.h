/// The driver of CUDA as a table of functions, declared by hand: no header or library of CUDA is
/// needed to build. Tests have a table of their own, over host memory.
#pragma once

#include "ir/Result.h"

#include <cstddef>
#include <cstdint>

namespace colldsl::device {

using CuResult = int;
using CuContext = struct CuContextHandle *;
using CuStream = struct CuStreamHandle *;
using CuEvent = struct CuEventHandle *;
using CuModule = struct CuModuleHandle *;
using CuFunction = struct CuFunctionHandle *;
using CuDevice = int;
using DeviceAddress = uint64_t;

/// Names an allocation in other processes.
struct CuIpcHandle {
  std::byte bytes[64];
};

// Numbers of the driver's interface.
inline constexpr CuResult kCudaSuccess = 0;
inline constexpr CuResult kCudaInvalidValue = 1;
inline constexpr CuResult kCudaNotReady = 600;
inline constexpr int kPointerContext = 1;
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerSyncMemops = 6;
inline constexpr int kPointerBufferId = 7;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr int kPointerRangeStart = 11;
inline constexpr int kPointerRangeSize = 12;
inline constexpr unsigned kDeviceMemoryType = 2;
inline constexpr int kDeviceFlushesRemoteWrites = 117;
inline constexpr int kDeviceOrdersRemoteWrites = 118;
inline constexpr int kDeviceExportsDmaBufs = 124;
inline constexpr int kFlushesForHost = 1; ///< a bit of kDeviceFlushesRemoteWrites
inline constexpr int kToOwner = 100;      ///< scope of remote writes: the device that they go to
inline constexpr int kCurrentContext = 0; ///< target of a flush
inline constexpr int kDmaBufHandle = 1;
inline constexpr unsigned kRegisterPortable = 1;
inline constexpr unsigned kRegisterDeviceMap = 2;
inline constexpr unsigned kIpcLazyPeerAccess = 1;
inline constexpr unsigned kWaitValueGeq = 0; ///< int32_t(word - value) >= 0
inline constexpr unsigned kWaitValueEq = 1;
inline constexpr unsigned kWaitValueAnd = 2;      ///< (word & value) != 0
inline constexpr unsigned kWriteValueDefault = 0; ///< behind all writes of the stream
inline constexpr int kCaptureNone = 0;
inline constexpr int kCaptureActive = 1;
inline constexpr int kCaptureModeRelaxed = 2;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventWithoutTiming = 2;

struct CudaDriver {
#define COLLDSL_CUDA_CALL(member, symbol, parameters) CuResult(*member) parameters = nullptr;
#include "device/CudaCalls.def"
};

/// Opens the library, takes the table from it and initializes the driver. The library stays open.
/// Errors: there is no such library, it lacks a symbol, there is no device.
Result<CudaDriver> openCudaDriver(const char *library);

/// The driver of this process, `libcuda.so.1`, opened by the first call; thread safe. A failure
/// stays.
Result<const CudaDriver *> cudaDriver();

/// Ok, or "cuEventQuery failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)".
Status checkCuda(const CudaDriver &driver, CuResult result, const char *call);

/// Device memory that the driver gave out as a whole.
struct Allocation {
  DeviceAddress begin = 0;
  uint64_t bytes = 0;
  CuContext context = nullptr;
  uint64_t id = 0; ///< no other allocation of the process has it, at any time
};

/// The allocation in which the device memory lies. An error if the address is not of device memory,
/// if it belongs to no context, or if the allocation ends before `bytes` bytes.
Result<Allocation> allocationOf(const CudaDriver &driver, const void *address, uint64_t bytes);

/// The context of the allocation; errors as of allocationOf().
Result<CuContext> contextOf(const CudaDriver &driver, const void *address, uint64_t bytes);

/// Makes a context current in this thread, as long as it lives. Calls that the driver refuses while
/// some stream of the process captures, such as those for memory, are allowed meanwhile.
class CurrentContext {
public:
  CurrentContext(const CudaDriver &driver, CuContext context)
      : driver_(driver), isPushed_(driver.ctxPushCurrent(context) == kCudaSuccess) {
    exchangeMode();
  }
  ~CurrentContext() {
    exchangeMode();
    CuContext popped;
    if (isPushed_)
      driver_.ctxPopCurrent(&popped);
  }
  /// False: the context is gone.
  explicit operator bool() const { return isPushed_; }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  void exchangeMode() {
    if (driver_.threadExchangeStreamCaptureMode)
      driver_.threadExchangeStreamCaptureMode(&captureMode_);
  }

  const CudaDriver &driver_;
  bool isPushed_;
  int captureMode_ = kCaptureModeRelaxed; ///< that of the thread, when it is not this one
};

} // namespace colldsl::device
