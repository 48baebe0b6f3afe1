// The fake device as libcuda.so.1 exports the driver's functions, and these for tests.
#include "tests/device/FakeDevice.h"

using namespace colldsl;

extern "C" {

/// Begins anew, in an order of this seed.
void fakeCudaReset(uint64_t seed) { test::FakeDevice::reset({.seed = seed}); }
/// Begins anew: this copy fails as it runs, and its stream with it.
void fakeCudaFailStreamAt(uint64_t copy) { test::FakeDevice::reset({.failStreamAt = copy}); }
/// Memory of the device, which stays.
void *fakeCudaMemory(size_t bytes) { return test::FakeDevice::allocate(bytes); }
/// Makes the device's first context current in this thread.
void fakeCudaContext() { test::FakeDevice::driver().ctxPushCurrent(test::FakeDevice::context(0)); }
/// Nonzero: the work of the stream can go on no further.
int fakeCudaSynchronize(device::CuStream stream) { return !test::FakeDevice::synchronize(stream); }
/// Empty, or a misuse of the driver; valid until the next call.
const char *fakeCudaMisuse() {
  static std::string misuse;
  misuse = test::FakeDevice::misuse();
  return misuse.c_str();
}
uint64_t fakeCudaCopies() { return test::FakeDevice::copies(); }
uint64_t fakeCudaBytesToHost() { return test::FakeDevice::bytesToHost(); }
}
