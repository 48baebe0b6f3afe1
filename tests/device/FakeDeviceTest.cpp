// The promises of the fake device that tests of other parts rely on.
#include "tests/device/FakeDevice.h"
#include "tests/device/OtherProcess.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sys/mman.h>

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

TEST(FakeDevice, streamsFollowEventsOfOthers) {
  bool wasLate = false;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    FakeDevice::reset({.seed = seed});
    device::CurrentContext current(driver(), FakeDevice::context(0));
    auto *memory = static_cast<std::byte *>(FakeDevice::allocate(3));
    memory[0] = std::byte(7);
    auto at = reinterpret_cast<DeviceAddress>(memory);
    device::CuStream first = newStream(), second = newStream();
    device::CuEvent event = nullptr;
    driver().eventCreate(&event, 0);
    ASSERT_EQ(driver().memcpyDtoDAsync(at + 1, at, 1, first), kCudaSuccess);
    ASSERT_EQ(driver().eventRecord(event, first), kCudaSuccess);
    ASSERT_EQ(driver().streamWaitEvent(second, event, 0), kCudaSuccess);
    ASSERT_EQ(driver().memcpyDtoDAsync(at + 2, at + 1, 1, second), kCudaSuccess);
    wasLate |= driver().eventQuery(event) == device::kCudaNotReady;
    EXPECT_TRUE(FakeDevice::synchronize(second));
    EXPECT_EQ(memory[2], std::byte(7)) << "seed " << seed;
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
  EXPECT_TRUE(wasLate);
}

// A stream writes a word of memory that processes share, after its other work.
TEST(FakeDevice, streamsWriteWordsThatOtherProcessesSee) {
  void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto *word = static_cast<uint32_t *>(page);
  {
    OtherProcess writer([&](OtherProcess::Channel channel) {
      FakeDevice::reset({});
      device::CurrentContext current(driver(), FakeDevice::context(0));
      driver().memHostRegister(page, 4096, device::kRegisterDeviceMap);
      DeviceAddress there = 0;
      driver().memHostGetDevicePointer(&there, word, 0);
      device::CuStream stream = newStream();
      driver().streamWriteValue32(stream, there, 5, 0);
      channel.send(true);
      bool isOver = false;
      if (channel.receive(isOver)) {
        FakeDevice::synchronize(stream);
        channel.send(FakeDevice::misuse().empty());
      }
    });
    bool begun = false, isFine = false;
    ASSERT_TRUE(writer.channel().receive(begun));
    EXPECT_EQ(std::atomic_ref(*word).load(), 0u) << "written before the stream came to it";
    writer.channel().send(true);
    ASSERT_TRUE(writer.channel().receive(isFine));
    EXPECT_TRUE(isFine);
    EXPECT_EQ(std::atomic_ref(*word).load(), 5u);
  }
  munmap(page, 4096);
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
