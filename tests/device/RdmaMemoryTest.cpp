// Device memory as network devices register it, on the fake device.
#include "device/RdmaMemory.h"
#include "tests/device/FakeDevice.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using device::RemoteWrites;

const void *allocate(uint64_t bytes) { return FakeDevice::allocate(bytes); }

TEST(RdmaMemory, isTheAllocationOfAnAddress) {
  FakeDevice::reset({});
  const auto *memory = static_cast<const std::byte *>(allocate(10000));
  auto found = device::exportForRdma(FakeDevice::driver(), memory + 5000);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->allocation.begin, reinterpret_cast<uint64_t>(memory));
  EXPECT_EQ(found->allocation.bytes, 10000u);
  EXPECT_GE(found->dmaBuf.file(), 0);
  EXPECT_EQ(found->offset, 0u);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

// Small allocations begin and end within pages of the host.
TEST(RdmaMemory, isExportedInWholePages) {
  FakeDevice::reset({});
  static uint64_t begin;
  static std::pair<uint64_t, uint64_t> exported;
  begin = reinterpret_cast<uint64_t>(allocate(12000)) + 4096 + 512;
  device::CudaDriver driver = FakeDevice::driver();
  driver.pointerGetAttribute = [](void *value, int attribute, device::DeviceAddress address) {
    if (attribute == device::kPointerRangeStart)
      *static_cast<uint64_t *>(value) = begin;
    else if (attribute == device::kPointerRangeSize)
      *static_cast<size_t *>(value) = 3600;
    else
      return FakeDevice::driver().pointerGetAttribute(value, attribute, address);
    return device::kCudaSuccess;
  };
  driver.memGetHandleForAddressRange = [](void *handle, device::DeviceAddress address, size_t bytes,
                                          int type, unsigned long long flags) {
    exported = {address, bytes};
    return FakeDevice::driver().memGetHandleForAddressRange(handle, address, bytes, type, flags);
  };
  auto found = device::exportForRdma(driver, reinterpret_cast<const void *>(begin));
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(exported, (std::pair<uint64_t, uint64_t>{begin - 512, 8192}));
  EXPECT_EQ(found->offset, 512u);
  EXPECT_GE(found->dmaBuf.file(), 0);
}

TEST(RdmaMemory, filesAreClosed) {
  FakeDevice::reset({});
  const void *memory = allocate(100);
  int file = device::exportForRdma(FakeDevice::driver(), memory)->dmaBuf.file();
  int next = device::exportForRdma(FakeDevice::driver(), memory)->dmaBuf.file();
  EXPECT_EQ(file, next);
}

TEST(RdmaMemory, hasNoDmaBufWhereTheDriverExportsNone) {
  FakeDevice::reset({.exportsDmaBufs = false});
  auto found = device::exportForRdma(FakeDevice::driver(), allocate(100));
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->dmaBuf.file(), -1);
  FakeDevice::reset({});
  device::CudaDriver old = FakeDevice::driver();
  old.memGetHandleForAddressRange = nullptr;
  EXPECT_EQ(device::exportForRdma(old, allocate(100))->dmaBuf.file(), -1);
}

TEST(RdmaMemory, oldDriversCannotSynchronizeItsCopies) {
  FakeDevice::reset({});
  device::CudaDriver old = FakeDevice::driver();
  auto found = device::exportForRdma(old, allocate(100));
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_TRUE(device::synchronizeCopies(old, found->allocation).ok());
  old.pointerSetAttribute = nullptr;
  EXPECT_EQ(device::synchronizeCopies(old, found->allocation).message(),
            "the driver of CUDA has no function cuPointerSetAttribute");
}

// Else the flush would be that of another context, or of none.
TEST(RdmaMemory, writesOfAContextThatIsGoneAreNotFlushed) {
  FakeDevice::reset({.ordersRemoteWrites = false});
  device::CudaDriver driver = FakeDevice::driver();
  driver.ctxPushCurrent = [](device::CuContext) { return kCudaInvalidContext; };
  device::CurrentContext other(FakeDevice::driver(), FakeDevice::context(1));
  EXPECT_EQ(device::flushRemoteWrites(driver, FakeDevice::context(0)).message(),
            "cuFlushGPUDirectRDMAWrites failed: the context of the device is gone");
  EXPECT_EQ(FakeDevice::flushes(), 0u);
}

TEST(RdmaMemory, writesAreOrderedOrFlushedOrUnknown) {
  auto writes = [](const device::CudaDriver &driver) {
    return device::remoteWritesOf(driver, allocate(100));
  };
  FakeDevice::reset({});
  EXPECT_EQ(writes(FakeDevice::driver()), RemoteWrites::Ordered);
  FakeDevice::reset({.ordersRemoteWrites = false});
  EXPECT_EQ(writes(FakeDevice::driver()), RemoteWrites::Flushed);
  device::CudaDriver old = FakeDevice::driver();
  old.flushRemoteWrites = nullptr;
  EXPECT_EQ(writes(old), RemoteWrites::Unknown);
  old = FakeDevice::driver();
  old.deviceGetAttribute = nullptr;
  EXPECT_EQ(writes(old), RemoteWrites::Unknown);
  FakeDevice::reset({.ordersRemoteWrites = false, .flushesRemoteWrites = false});
  EXPECT_EQ(writes(FakeDevice::driver()), RemoteWrites::Unknown);
}

} // namespace
} // namespace colldsl::test
