// How drivers are found, and what they report. Each process loads drivers once, so those of HIP 5
// and 6 are asked in processes of their own.
#include "mpi/DeviceMemory.h"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace colldsl::mpi::test {
namespace {

void *load(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  return handle;
}

/// The kinds that HIP's numbers 1 to 4 stand for, a character each.
std::string hipKinds(const char *version) {
  int results[2];
  std::string kinds(4, '?');
  EXPECT_EQ(pipe(results), 0);
  if (fork() == 0) {
    setenv("FAKE_HIP_VERSION", version, 1);
    auto *memory = static_cast<char *>(dlsym(load(COLLDSL_FAKE_HIP), "fakeHipMemory"));
    if (Accelerators::look() && Accelerators::kindOf(&results) == MemoryKind::Host)
      for (int i = 0; i < 4; ++i)
        kinds[static_cast<size_t>(i)] =
            "HMD"[static_cast<size_t>(Accelerators::kindOf(memory + i + 1))];
    _exit(write(results[1], kinds.data(), kinds.size()) != 4);
  }
  EXPECT_EQ(read(results[0], kinds.data(), kinds.size()), 4);
  wait(nullptr);
  close(results[0]);
  close(results[1]);
  return kinds;
}

TEST(DeviceMemory, NoDriverIsLoadedHere) {
  EXPECT_FALSE(Accelerators::look());
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY), nullptr);
  EXPECT_EQ(Accelerators::kindOf("here"), MemoryKind::Host);
}

// 1: host, 2: device, 3: managed; before 6: 1: device, 4: managed.
TEST(DeviceMemory, HipIsAskedByTheNumbersOfItsVersion) {
  EXPECT_EQ(hipKinds("60032830").substr(0, 3), "HDM");
  EXPECT_EQ(hipKinds("50631061").substr(0, 1), "D");
  EXPECT_EQ(hipKinds("50631061").substr(3, 1), "M");
}

TEST(DeviceMemory, ADriverIsFoundWhenItIsLoaded) {
  ASSERT_FALSE(Accelerators::look());
  load(COLLDSL_OTHER_LIBRARY);
  ASSERT_FALSE(Accelerators::look());
  void *handle = load(COLLDSL_FAKE_CUDA);
  auto allocate = [&](const char *name) {
    return reinterpret_cast<char *(*)(size_t)>(dlsym(handle, name))(4096);
  };
  char *device = allocate("fakeDeviceMemory"), *managed = allocate("fakeManagedMemory");
  char *pageLocked = allocate("fakePageLockedMemory");
  ASSERT_FALSE(Accelerators::arePresent());
  EXPECT_EQ(Accelerators::kindOf(device), MemoryKind::Host); // before a look
  ASSERT_TRUE(Accelerators::look());
  dlclose(handle);
  EXPECT_TRUE(Accelerators::look());
  EXPECT_EQ(Accelerators::kindOf(device), MemoryKind::Device);
  EXPECT_EQ(Accelerators::kindOf(device + 4095), MemoryKind::Device);
  EXPECT_EQ(Accelerators::kindOf(managed), MemoryKind::Managed);
  EXPECT_EQ(Accelerators::kindOf(pageLocked), MemoryKind::Host);
  EXPECT_EQ(Accelerators::kindOf(&device), MemoryKind::Host);
  EXPECT_EQ(Accelerators::kindOf(nullptr), MemoryKind::Host);
}

} // namespace
} // namespace colldsl::mpi::test
