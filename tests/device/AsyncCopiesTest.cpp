// The contract of copies to and from a device, on the fake one.
#include "device/AsyncCopies.h"
#include "tests/device/FakeDevice.h"

#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using device::AsyncCopies;
using device::Direction;
using Finished = AsyncCopies::Finished;

constexpr uint64_t kBytes = 64;

/// Copies between `count` pieces of memory on both sides.
struct Copying {
  explicit Copying(const FakeDeviceOptions &options, uint32_t count = 8) {
    FakeDevice::reset(options);
    host.resize(count * kBytes);
    onDevice = static_cast<std::byte *>(FakeDevice::allocate(host.size()));
    auto found = device::contextOf(FakeDevice::driver(), onDevice, host.size());
    EXPECT_TRUE(found.ok());
    device::CurrentContext current(FakeDevice::driver(), *found);
    FakeDevice::driver().memHostRegister(host.data(), host.size(), 0);
    copies = AsyncCopies::open(FakeDevice::driver(), *found).take();
    EXPECT_TRUE(copies->reserve(Direction::ToHost, count).ok());
    EXPECT_TRUE(copies->reserve(Direction::ToDevice, count).ok());
  }
  Status begin(Direction direction, uint32_t piece) {
    return copies->copy(direction, host.data() + piece * kBytes,
                        reinterpret_cast<device::DeviceAddress>(onDevice) + piece * kBytes, kBytes,
                        piece);
  }
  /// Polls until a copy has finished or failed.
  Result<std::optional<Finished>> next() {
    for (int poll = 0; poll < 10000; ++poll) {
      auto finished = copies->poll(culprit);
      if (!finished || *finished)
        return finished;
    }
    return std::optional<Finished>();
  }

  std::vector<std::byte> host;
  std::byte *onDevice;
  std::unique_ptr<AsyncCopies> copies;
  std::optional<Finished> culprit;
};

TEST(AsyncCopies, finishInTheOrderOfTheirDirection) {
  bool overtook = false;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Copying setup({.seed = seed});
    for (uint32_t i = 0; i < 8; ++i)
      setup.onDevice[i * kBytes] = std::byte(i + 1);
    for (uint32_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(setup.begin(Direction::ToHost, i).ok());
      ASSERT_TRUE(setup.begin(Direction::ToDevice, 4 + i).ok());
    }
    uint32_t next[2] = {0, 4};
    for (int i = 0; i < 8; ++i) {
      auto finished = setup.next();
      ASSERT_TRUE(finished.ok() && *finished);
      auto direction = static_cast<size_t>((*finished)->direction);
      EXPECT_EQ((*finished)->number, next[direction]++);
      overtook |= direction == 1 && next[0] == 0;
      if (direction == 0) {
        EXPECT_EQ(setup.host[(*finished)->number * kBytes], std::byte((*finished)->number + 1));
      }
    }
    EXPECT_FALSE(setup.copies->anyUnderWay());
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
  EXPECT_TRUE(overtook);
}

TEST(AsyncCopies, bytesAreOfNoMeaningBeforeTheEnd) {
  Copying setup({});
  setup.onDevice[0] = std::byte(1);
  ASSERT_TRUE(setup.begin(Direction::ToHost, 0).ok());
  EXPECT_NE(setup.host[0], std::byte(1));
  ASSERT_TRUE(setup.next().ok());
  EXPECT_EQ(setup.host[0], std::byte(1));
}

TEST(AsyncCopies, aCallThatFailsNamesItself) {
  Copying setup({.failCopyAt = 2});
  ASSERT_TRUE(setup.begin(Direction::ToHost, 0).ok());
  Status s = setup.begin(Direction::ToDevice, 1);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "cuMemcpyHtoDAsync failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_TRUE(setup.copies->drain(std::chrono::seconds(1)));
}

TEST(AsyncCopies, aStreamThatFailsNamesTheCopy) {
  Copying setup({.failStreamAt = 3});
  for (uint32_t i = 0; i < 4; ++i)
    ASSERT_TRUE(setup.begin(Direction::ToHost, i).ok());
  ASSERT_TRUE(setup.next().ok());
  ASSERT_TRUE(setup.next().ok());
  auto third = setup.next();
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.message(), "cuEventQuery failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_EQ(setup.culprit->number, 2u);
  EXPECT_TRUE(setup.copies->drain(std::chrono::seconds(1)));
}

TEST(AsyncCopies, aDrainIsBounded) {
  Copying setup({.stallAt = 1});
  ASSERT_TRUE(setup.begin(Direction::ToHost, 0).ok());
  EXPECT_FALSE(setup.copies->drain(std::chrono::milliseconds(20)));
  EXPECT_TRUE(setup.copies->anyUnderWay());
}

TEST(AsyncCopies, leaveNothing) {
  Copying setup({});
  setup.copies.reset();
  EXPECT_EQ(FakeDevice::left(), 1u); // the page-locked memory of the test
}

TEST(CudaDriver, aMissingLibraryIsAnError) {
  auto driver = device::openCudaDriver("libcuda-that-is-not-there.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_NE(driver.message().find("device memory needs the driver of CUDA, which cannot be opened: "
                                  "libcuda-that-is-not-there.so.1"),
            std::string::npos)
      << driver.message();
}

TEST(CudaDriver, aLibraryOfAnotherKindIsAnError) {
  auto driver = device::openCudaDriver("libc.so.6");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.message(), "the driver of CUDA 'libc.so.6' has no function cuInit");
}

TEST(CudaDriver, knowsMemoryOfTheDevice) {
  FakeDevice::reset({});
  const device::CudaDriver &driver = FakeDevice::driver();
  auto *memory = static_cast<std::byte *>(FakeDevice::allocate(100));
  EXPECT_TRUE(device::contextOf(driver, memory + 40, 60).ok());
  auto longer = device::contextOf(driver, memory + 40, 61);
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.message().find("ends after 60 bytes, before the 61 bytes"), std::string::npos);
  int onHost = 0;
  auto host = device::contextOf(driver, &onHost, sizeof onHost);
  ASSERT_FALSE(host.ok());
  EXPECT_NE(host.message().find("is not of device memory"), std::string::npos);
}

} // namespace
} // namespace colldsl::test
