// The promises of the fake device that tests of other parts rely on.
#include "device/StreamOrder.h"
#include "tests/device/FakeGraphs.h"
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

/// A capture of a stream of the device, begun anew.
class FakeCaptures : public testing::Test {
protected:
  FakeCaptures() {
    FakeDevice::reset({});
    driver().ctxPushCurrent(FakeDevice::context(0));
    stream_ = newStream();
    EXPECT_EQ(cuStreamBeginCapture_v2(stream_, kCaptureModeGlobal), kCudaSuccess);
  }
  ~FakeCaptures() override {
    device::CuContext context;
    driver().ctxPopCurrent(&context);
  }
  device::CuResult end() {
    CuGraph graph = nullptr;
    return cuStreamEndCapture(stream_, &graph);
  }
  device::CuStream stream_;
};

TEST_F(FakeCaptures, callsThatNoGraphHasEndThem) {
  DeviceAddress memory = 0;
  EXPECT_EQ(driver().memAlloc(&memory, 8), kCudaCaptureUnsupported);
  EXPECT_EQ(FakeDevice::misuse(), "cuMemAlloc_v2 while a stream captures");
  EXPECT_EQ(end(), kCudaCaptureInvalidated);
}

TEST_F(FakeCaptures, aRelaxedThreadMayMakeThem) {
  DeviceAddress memory = 0;
  {
    device::CurrentContext relaxed(driver(), FakeDevice::context(0));
    EXPECT_EQ(driver().memAlloc(&memory, 8), kCudaSuccess);
  }
  EXPECT_EQ(end(), kCudaSuccess);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST_F(FakeCaptures, eventsOfACaptureAreNotQueried) {
  device::CurrentContext relaxed(driver(), FakeDevice::context(0));
  device::CuEvent event = nullptr;
  ASSERT_EQ(driver().eventCreate(&event, 0), kCudaSuccess);
  ASSERT_EQ(driver().eventRecord(event, stream_), kCudaSuccess);
  EXPECT_EQ(driver().eventQuery(event), kCudaCapturedEvent);
  EXPECT_EQ(end(), kCudaCaptureInvalidated);
}

TEST_F(FakeCaptures, theDefaultStreamIsOfNoUse) {
  void *memory = FakeDevice::allocate(8);
  EXPECT_NE(driver().memsetD32Async(reinterpret_cast<DeviceAddress>(memory), 0, 1, nullptr),
            kCudaSuccess);
  EXPECT_EQ(device::captureOf(driver(), nullptr).message(),
            "cuStreamGetCaptureInfo failed: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (906)");
}

TEST_F(FakeCaptures, streamsThatAreNotJoinedAreAnError) {
  device::CuEvent event = nullptr;
  device::CuStream other = newStream();
  void *memory = FakeDevice::allocate(8);
  driver().eventCreate(&event, 0);
  driver().eventRecord(event, stream_);
  ASSERT_EQ(driver().streamWaitEvent(other, event, 0), kCudaSuccess);
  driver().memsetD32Async(reinterpret_cast<DeviceAddress>(memory), 0, 1, other);
  EXPECT_EQ(end(), kCudaCaptureUnjoined);
}

} // namespace
} // namespace colldsl::test
