// The fake device as libcuda.so.1: the functions that colldsl takes from the driver, and those by
// which a test allocates.
#include "tests/device/FakeDevice.h"

using namespace colldsl;
using namespace colldsl::device;

extern "C" {

CuResult cuInit(unsigned flags) { return test::FakeDevice::driver().init(flags); }
CuResult cuGetErrorName(CuResult error, const char **name) {
  return test::FakeDevice::driver().getErrorName(error, name);
}
CuResult cuPointerGetAttribute(void *value, int attribute, DeviceAddress address) {
  return test::FakeDevice::driver().pointerGetAttribute(value, attribute, address);
}
CuResult cuCtxPushCurrent_v2(CuContext context) {
  return test::FakeDevice::driver().ctxPushCurrent(context);
}
CuResult cuCtxPopCurrent_v2(CuContext *context) {
  return test::FakeDevice::driver().ctxPopCurrent(context);
}
CuResult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  return test::FakeDevice::driver().memHostRegister(memory, bytes, flags);
}
CuResult cuMemHostUnregister(void *memory) {
  return test::FakeDevice::driver().memHostUnregister(memory);
}
CuResult cuStreamCreate(CuStream *stream, unsigned flags) {
  return test::FakeDevice::driver().streamCreate(stream, flags);
}
CuResult cuStreamDestroy_v2(CuStream stream) {
  return test::FakeDevice::driver().streamDestroy(stream);
}
CuResult cuMemcpyDtoHAsync_v2(void *host, DeviceAddress device, size_t bytes, CuStream stream) {
  return test::FakeDevice::driver().memcpyDtoHAsync(host, device, bytes, stream);
}
CuResult cuMemcpyHtoDAsync_v2(DeviceAddress device, const void *host, size_t bytes,
                              CuStream stream) {
  return test::FakeDevice::driver().memcpyHtoDAsync(device, host, bytes, stream);
}
CuResult cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, size_t bytes, CuStream stream) {
  return test::FakeDevice::driver().memcpyDtoDAsync(to, from, bytes, stream);
}
CuResult cuEventCreate(CuEvent *event, unsigned flags) {
  return test::FakeDevice::driver().eventCreate(event, flags);
}
CuResult cuEventDestroy_v2(CuEvent event) { return test::FakeDevice::driver().eventDestroy(event); }
CuResult cuEventRecord(CuEvent event, CuStream stream) {
  return test::FakeDevice::driver().eventRecord(event, stream);
}
CuResult cuEventQuery(CuEvent event) { return test::FakeDevice::driver().eventQuery(event); }

CuResult cuMemAlloc_v2(DeviceAddress *address, size_t bytes) {
  *address = reinterpret_cast<DeviceAddress>(test::FakeDevice::allocate(bytes));
  return kCudaSuccess;
}
/// Empty, or a misuse of the driver; valid until the next call.
const char *fakeCudaMisuse() {
  static std::string misuse;
  misuse = test::FakeDevice::misuse();
  return misuse.c_str();
}
uint64_t fakeCudaCopies() { return test::FakeDevice::copies(); }
}
