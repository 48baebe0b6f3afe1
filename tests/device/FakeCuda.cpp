// The fake device as libcuda.so.1 exports the driver's functions, and these for tests.
#include "tests/device/FakeCuda.h"

#include "tests/device/FakeDevice.h"

using namespace colldsl;

extern "C" {

void fakeCudaReset(uint64_t seed) { test::FakeDevice::reset({.seed = seed}); }
void fakeCudaFailStreamAt(uint64_t copy) { test::FakeDevice::reset({.failStreamAt = copy}); }
void fakeCudaFailCall(const char *symbol, uint64_t at) {
  test::FakeDevice::reset({.failCall = symbol, .failCallAt = at});
}
void fakeCudaResetAlone() { test::FakeDevice::reset({.reachesPeers = false}); }
void *fakeCudaMemory(size_t bytes) { return test::FakeDevice::allocate(bytes); }
void *fakeCudaMemoryOf(size_t bytes, uint32_t context) {
  return test::FakeDevice::allocate(bytes, context);
}
void *fakeCudaPoolMemory(size_t bytes) {
  return test::FakeDevice::allocate(bytes, 0, test::FakeMemoryKind::Pool);
}
void fakeCudaContext() { test::FakeDevice::driver().ctxPushCurrent(test::FakeDevice::context(0)); }
int fakeCudaSynchronize(void *stream) {
  return !test::FakeDevice::synchronize(static_cast<device::CuStream>(stream));
}
const char *fakeCudaMisuse() {
  static std::string misuse;
  misuse = test::FakeDevice::misuse();
  return misuse.c_str();
}
uint64_t fakeCudaCopies() { return test::FakeDevice::copies(); }
uint64_t fakeCudaBytesToHost() { return test::FakeDevice::bytesToHost(); }

/// A call that programs make, and MPIs. As the driver has it, attributes of an address that is not
/// of the device are zero.
device::CuResult cuPointerGetAttributes(unsigned count, const int *attributes, void **data,
                                        device::DeviceAddress address) {
  for (unsigned i = 0; i < count; ++i) {
    auto &value = *static_cast<unsigned *>(data[i]);
    bool isKnown = attributes[i] == device::kPointerMemoryType &&
                   test::FakeDevice::driver().pointerGetAttribute(&value, attributes[i], address) ==
                       device::kCudaSuccess;
    value = isKnown ? value : 0;
  }
  return device::kCudaSuccess;
}
}
