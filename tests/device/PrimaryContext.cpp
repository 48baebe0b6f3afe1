#include "tests/device/PrimaryContext.h"

#include <dlfcn.h>

namespace colldsl::test {
namespace {

template <typename Call> void find(void *library, const char *symbol, Call &call) {
  call = reinterpret_cast<Call>(dlsym(library, symbol));
}

} // namespace

Result<device::CuContext> primaryContext(const device::CudaDriver &driver, int number,
                                         std::string &name) {
  device::CuResult (*get)(int *, int) = nullptr;
  device::CuResult (*getName)(char *, int, int) = nullptr;
  device::CuResult (*retain)(device::CuContext *, int) = nullptr;
  if (void *library = dlopen("libcuda.so.1", RTLD_NOW)) {
    find(library, "cuDeviceGet", get);
    find(library, "cuDeviceGetName", getName);
    find(library, "cuDevicePrimaryCtxRetain", retain);
  }
  if (!get || !getName || !retain)
    return Status::error("the driver of CUDA lacks a function that this program needs");
  int handle = 0;
  device::CuContext context = nullptr;
  char room[256] = "";
  if (Status s = checkCuda(driver, get(&handle, number), "cuDeviceGet"); !s)
    return s;
  if (Status s = checkCuda(driver, getName(room, sizeof room, handle), "cuDeviceGetName"); !s)
    return s;
  if (Status s = checkCuda(driver, retain(&context, handle), "cuDevicePrimaryCtxRetain"); !s)
    return s;
  name = room;
  return context;
}

} // namespace colldsl::test
