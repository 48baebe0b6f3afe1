// The promises of the fake device that tests of other parts rely on.
#include "tests/device/FakeDevice.h"
#include "tests/device/OtherProcess.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using device::DeviceAddress;
using device::kCudaSuccess;

const device::CudaDriver &driver() { return FakeDevice::driver(); }

device::CuStream newStream() {
  device::CuStream stream = nullptr;
  driver().streamCreate(&stream, 0);
  return stream;
}

TEST(FakeDevice, memoryComesBackUnderAnotherId) {
  FakeDevice::reset({});
  device::CurrentContext current(driver(), FakeDevice::context(0));
  uint64_t ids[2] = {};
  DeviceAddress memory[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(driver().memAlloc(&memory[i], 100), kCudaSuccess);
    EXPECT_EQ(*reinterpret_cast<std::byte *>(memory[i]), std::byte(kMeaningless));
    *reinterpret_cast<std::byte *>(memory[i]) = std::byte(1);
    ids[i] = device::allocationOf(driver(), reinterpret_cast<void *>(memory[i]), 100)->id;
    EXPECT_EQ(FakeDevice::left(), 1u);
    ASSERT_EQ(driver().memFree(memory[i]), kCudaSuccess);
  }
  EXPECT_EQ(memory[0], memory[1]);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(driver().memFree(memory[0]), kCudaSuccess);
  EXPECT_EQ(FakeDevice::left(), 0u);
}

TEST(FakeDevice, freeingUnderWorkIsFound) {
  FakeDevice::reset({.stallAt = 1});
  device::CurrentContext current(driver(), FakeDevice::context(0));
  DeviceAddress memory = 0;
  ASSERT_EQ(driver().memAlloc(&memory, 100), kCudaSuccess);
  ASSERT_EQ(driver().memcpyDtoDAsync(memory, memory + 50, 8, newStream()), kCudaSuccess);
  driver().memFree(memory);
  EXPECT_EQ(FakeDevice::misuse(), "memory is freed that work under way touches");
}

TEST(FakeDevice, aChildHasADeviceOfItsOwn) {
  FakeDevice::reset({.failCall = "cuMemAlloc_v2", .failCallAt = 1});
  void *memory = FakeDevice::allocate(100);
  OtherProcess child([&](OtherProcess::Channel channel) {
    device::CurrentContext current(driver(), FakeDevice::context(0));
    DeviceAddress made = 0;
    bool isForgotten = !device::contextOf(driver(), memory, 100);
    bool hasOptions = driver().memAlloc(&made, 100) == kCudaOutOfMemory;
    channel.send(isForgotten && hasOptions);
  });
  bool isFine = false;
  ASSERT_TRUE(child.channel().receive(isFine));
  EXPECT_TRUE(isFine);
  EXPECT_TRUE(device::contextOf(driver(), memory, 100).ok());
}

} // namespace
} // namespace colldsl::test
