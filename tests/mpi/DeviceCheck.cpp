// Compares what Accelerators reports of memory of all kinds with what a real driver of CUDA gave it
// as. Needs no CUDA to be built, and no MPI:
//
//   g++ -std=c++20 -I . tests/mpi/DeviceCheck.cpp mpi/DeviceMemory.cpp -ldl -o device-check
//
// Exit code: 0: all right; 1: something is wrong; 77: there is no driver, or no device.
#include "mpi/DeviceMemory.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace colldsl::mpi;

namespace {

constexpr size_t kBytes = 1 << 20;
constexpr unsigned kAttachGlobal = 1, kForAllContexts = 1;
int wrong = 0;

const char *nameOf(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::Host:
    return "host";
  case MemoryKind::Managed:
    return "managed";
  case MemoryKind::Device:
    return "device";
  }
  __builtin_unreachable();
}

int skip(const char *why, int code = 0) {
  std::printf("skipped: %s (%d)\n", why, code);
  return 77;
}

template <typename... Parameters> int call(void *driver, const char *name, Parameters... given) {
  void *found = dlsym(driver, name);
  return found ? reinterpret_cast<int (*)(Parameters...)>(found)(given...) : -1;
}

/// Whether another process could copy from there by a call of the kernel.
const char *readByKernel(void *memory) {
  static char copy[64];
  iovec to{copy, sizeof copy}, from{memory, sizeof copy};
  ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  return got == sizeof copy ? "yes" : got < 0 ? std::strerror(errno) : "in part";
}

double nanosecondsOf(const void *memory) {
  constexpr int kTimes = 100000;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i)
    (void)Accelerators::kindOf(memory);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
             .count() /
         kTimes;
}

void check(const char *what, int code, void *memory, MemoryKind expected) {
  if (code != 0) {
    std::printf("%-28s not allocated (%d)\n", what, code);
    return;
  }
  MemoryKind first = Accelerators::kindOf(memory);
  MemoryKind last = Accelerators::kindOf(static_cast<char *>(memory) + kBytes - 1);
  bool isRight = first == expected && last == expected;
  wrong += !isRight;
  std::printf("%-28s %-8s %-8s %-10s %6.0f ns   kernel reads: %s\n", what, nameOf(first),
              nameOf(last), isRight ? "right" : "WRONG", nanosecondsOf(memory),
              readByKernel(memory));
}

void checkAll(void *driver) {
  void *memory = nullptr, *plain = std::aligned_alloc(4096, kBytes);
  std::memset(plain, 1, kBytes);
  check("malloc", 0, plain, MemoryKind::Host);
  void *mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check("mmap", mapped == MAP_FAILED, mapped, MemoryKind::Host);
  int code = call(driver, "cuMemAlloc_v2", &memory, kBytes);
  check("cuMemAlloc", code, memory, MemoryKind::Device);
  code = call(driver, "cuMemAllocAsync", &memory, kBytes, static_cast<void *>(nullptr));
  check("cuMemAllocAsync", code, memory, MemoryKind::Device);
  code = call(driver, "cuMemAllocHost_v2", &memory, kBytes);
  check("cuMemAllocHost", code, memory, MemoryKind::Host);
  code = call(driver, "cuMemHostRegister_v2", plain, kBytes, kForAllContexts);
  check("malloc, cuMemHostRegister", code, plain, MemoryKind::Host);
  code = call(driver, "cuMemAllocManaged", &memory, kBytes, kAttachGlobal);
  check("cuMemAllocManaged", code, memory, MemoryKind::Managed);
  if (code == 0) {
    std::memset(memory, 1, kBytes);
    check("managed, written by the CPU", code, memory, MemoryKind::Managed);
  }
}

} // namespace

int main() {
  if (Accelerators::look())
    return skip("a driver is loaded before the program begins");
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = nullptr;
  if (!driver)
    return skip("there is no libcuda.so.1");
  bool isFound = Accelerators::look();
  std::printf("driver found: %s\n", isFound ? "yes" : "NO");
  wrong += !isFound;
  int here = 0, device = 0;
  bool isHost = Accelerators::kindOf(&here) == MemoryKind::Host;
  std::printf("before cuInit the stack is %s\n", isHost ? "host" : "NOT host");
  wrong += !isHost;
  if (int code = call(driver, "cuInit", 0u); code != 0)
    return skip("cuInit fails", code);
  if (int code = call(driver, "cuDeviceGet", &device, 0); code != 0)
    return skip("there is no device", code);
  if (int code = call(driver, "cuDevicePrimaryCtxRetain", &context, device); code != 0)
    return skip("cuDevicePrimaryCtxRetain fails", code);
  if (int code = call(driver, "cuCtxSetCurrent", context); code != 0)
    return skip("cuCtxSetCurrent fails", code);
  checkAll(driver);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
