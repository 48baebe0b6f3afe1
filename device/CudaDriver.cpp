#include "device/CudaDriver.h"

#include "ir/Concat.h"

#include <dlfcn.h>

namespace colldsl::device {
namespace {

template <typename T>
Status attributeOf(const CudaDriver &driver, const void *address, int which, T &value) {
  return checkCuda(
      driver, driver.pointerGetAttribute(&value, which, reinterpret_cast<DeviceAddress>(address)),
      "cuPointerGetAttribute");
}

} // namespace

Status checkCuda(const CudaDriver &driver, CuResult result, const char *call) {
  if (result == kCudaSuccess)
    return {};
  const char *name = nullptr;
  if (driver.getErrorName(result, &name) != kCudaSuccess || !name)
    name = "an unknown error";
  return Status::error(concat(call, " failed: ", name, " (", result, ")"));
}

Result<CudaDriver> openCudaDriver(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error(
        concat("device memory needs the driver of CUDA, which cannot be opened: ", dlerror()));
  CudaDriver driver;
#define COLLDSL_CUDA_OPTIONAL_CALL(member, symbol, parameters)                                     \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(handle, #symbol));
#define COLLDSL_CUDA_CALL(member, symbol, parameters)                                              \
  COLLDSL_CUDA_OPTIONAL_CALL(member, symbol, parameters)                                           \
  if (!driver.member)                                                                              \
    return Status::error(concat("the driver of CUDA '", library, "' has no function " #symbol));
#include "device/CudaCalls.def"
  if (Status s = checkCuda(driver, driver.init(0), "cuInit"); !s)
    return s;
  return driver;
}

Result<const CudaDriver *> cudaDriver() {
  static const Result<CudaDriver> driver = openCudaDriver("libcuda.so.1");
  if (!driver)
    return driver.status();
  return &*driver;
}

Result<Allocation> allocationOf(const CudaDriver &driver, const void *address, uint64_t bytes) {
  unsigned type = 0;
  CuResult known = driver.pointerGetAttribute(&type, kPointerMemoryType,
                                              reinterpret_cast<DeviceAddress>(address));
  if (known == kCudaInvalidValue || (known == kCudaSuccess && type != kDeviceMemoryType))
    return Status::error(concat("the address ", address, " is not of device memory"));
  if (Status s = checkCuda(driver, known, "cuPointerGetAttribute"); !s)
    return s;
  Allocation found;
  size_t size = 0;
  if (Status s = attributeOf(driver, address, kPointerRangeStart, found.begin); !s)
    return s;
  if (Status s = attributeOf(driver, address, kPointerRangeSize, size); !s)
    return s;
  if (Status s = attributeOf(driver, address, kPointerContext, found.context); !s)
    return s;
  if (Status s = attributeOf(driver, address, kPointerBufferId, found.id); !s)
    return s;
  found.bytes = size;
  uint64_t left = found.begin + size - reinterpret_cast<DeviceAddress>(address);
  if (bytes > left)
    return Status::error(concat("the device memory at ", address, " ends after ", left,
                                " bytes, before the ", bytes, " bytes that were given"));
  if (!found.context)
    return Status::error(concat("the device memory at ", address,
                                " belongs to no context, as memory of pools does"));
  return found;
}

Result<CuContext> contextOf(const CudaDriver &driver, const void *address, uint64_t bytes) {
  Result<Allocation> found = allocationOf(driver, address, bytes);
  if (!found)
    return found.status();
  return found->context;
}

} // namespace colldsl::device
