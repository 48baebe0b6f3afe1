// The contract of work on a device, on the fake one.
#include "device/AsyncWork.h"
#include "tests/device/FakeDevice.h"

#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using device::AsyncWork;
using device::Lane;
using Finished = AsyncWork::Finished;

constexpr uint64_t kBytes = 64;

/// Work on `count` pieces of memory on both sides.
struct Working {
  explicit Working(const FakeDeviceOptions &options, uint32_t count = 8) {
    FakeDevice::reset(options);
    host.resize(count * kBytes);
    onDevice = static_cast<std::byte *>(FakeDevice::allocate(host.size()));
    auto found = device::contextOf(FakeDevice::driver(), onDevice, host.size());
    EXPECT_TRUE(found.ok());
    device::CurrentContext current(FakeDevice::driver(), *found);
    FakeDevice::driver().memHostRegister(host.data(), host.size(), 0);
    work = AsyncWork::open(FakeDevice::driver(), *found).take();
    for (Lane lane : device::kLanes)
      EXPECT_TRUE(work->reserve(lane, count).ok());
  }
  device::DeviceAddress addressOf(uint32_t piece) const {
    return reinterpret_cast<device::DeviceAddress>(onDevice) + piece * kBytes;
  }
  Status begin(Lane lane, uint32_t piece) {
    return work->copy(lane, host.data() + piece * kBytes, addressOf(piece), kBytes, piece);
  }
  Status copyWithin(device::DeviceAddress to, device::DeviceAddress from, uint64_t bytes,
                    uint32_t piece) {
    Status s = work->addCopyWithin(work->begin(Lane::Within), to, from, bytes);
    return s ? work->end(Lane::Within, piece) : s;
  }
  /// Polls until some work has finished or failed.
  Result<std::optional<Finished>> next() {
    for (int poll = 0; poll < 10000; ++poll) {
      auto finished = work->poll(culprit);
      if (!finished || *finished)
        return finished;
    }
    return std::optional<Finished>();
  }

  std::vector<std::byte> host;
  std::byte *onDevice;
  std::unique_ptr<AsyncWork> work;
  std::optional<Finished> culprit;
};

// Copies to the host of pieces 0 and 1, to the device of 2 and 3, and within it from 4 to 6 and
// from 5 to 7.
TEST(AsyncWork, finishesInTheOrderOfItsLane) {
  bool overtook = false;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Working setup({.seed = seed});
    for (uint32_t i = 0; i < 8; ++i) {
      setup.onDevice[i * kBytes] = std::byte(i + 1);
      setup.host[i * kBytes] = std::byte(i + 11);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(setup.begin(Lane::ToHost, i).ok());
      ASSERT_TRUE(setup.begin(Lane::ToDevice, 2 + i).ok());
      ASSERT_TRUE(
          setup.copyWithin(setup.addressOf(6 + i), setup.addressOf(4 + i), kBytes, 6 + i).ok());
    }
    uint32_t next[] = {0, 2, 6};
    for (int i = 0; i < 6; ++i) {
      auto finished = setup.next();
      ASSERT_TRUE(finished.ok() && *finished);
      uint32_t piece = (*finished)->number;
      EXPECT_EQ(piece, next[static_cast<size_t>((*finished)->lane)]++);
      switch ((*finished)->lane) {
      case Lane::ToHost:
        EXPECT_EQ(setup.host[piece * kBytes], std::byte(piece + 1));
        break;
      case Lane::ToDevice:
        EXPECT_EQ(setup.onDevice[piece * kBytes], std::byte(piece + 11));
        break;
      case Lane::Within:
        EXPECT_EQ(setup.onDevice[piece * kBytes], std::byte(piece - 2 + 1));
        overtook |= next[0] == 0;
      }
    }
    EXPECT_FALSE(setup.work->anyUnderWay());
    EXPECT_EQ(FakeDevice::misuse(), "");
    EXPECT_EQ(FakeDevice::bytesWithin(), 2 * kBytes);
  }
  EXPECT_TRUE(overtook);
}

// The source of a copy within the device is read when its stream comes to it.
TEST(AsyncWork, copiesWithinTheDeviceFollowEachOther) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Working setup({.seed = seed});
    for (uint32_t i = 0; i < 3; ++i)
      setup.onDevice[i * kBytes] = std::byte(i + 1);
    for (uint32_t i = 1; i <= 2; ++i) // 2 to 3 before 1 to 2 before 0 to 1
      ASSERT_TRUE(setup.copyWithin(setup.addressOf(4 - i), setup.addressOf(3 - i), kBytes, i).ok());
    ASSERT_TRUE(setup.copyWithin(setup.addressOf(1), setup.addressOf(0), kBytes, 3).ok());
    while (setup.work->anyUnderWay())
      ASSERT_TRUE(setup.next().ok());
    for (uint32_t i = 1; i <= 3; ++i)
      EXPECT_EQ(setup.onDevice[i * kBytes], std::byte(i)) << i;
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
}

// One piece of work of two copies, which the caller begins itself.
TEST(AsyncWork, endsWorkOfTheCaller) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Working setup({.seed = seed});
    const device::CudaDriver &driver = FakeDevice::driver();
    setup.onDevice[0] = std::byte(7);
    {
      device::CurrentContext current(driver, setup.work->context());
      device::CuStream stream = setup.work->begin(Lane::Within);
      for (uint32_t to : {1, 2})
        ASSERT_EQ(
            driver.memcpyDtoDAsync(setup.addressOf(to), setup.addressOf(to - 1), kBytes, stream),
            device::kCudaSuccess);
    }
    ASSERT_TRUE(setup.work->end(Lane::Within, 5).ok());
    auto finished = setup.next();
    ASSERT_TRUE(finished.ok() && *finished);
    EXPECT_EQ((*finished)->lane, Lane::Within);
    EXPECT_EQ((*finished)->number, 5u);
    EXPECT_EQ(setup.onDevice[2 * kBytes], std::byte(7));
    EXPECT_FALSE(setup.work->anyUnderWay());
  }
}

TEST(AsyncWork, bytesAreOfNoMeaningBeforeTheEnd) {
  Working setup({});
  setup.onDevice[0] = std::byte(1);
  ASSERT_TRUE(setup.begin(Lane::ToHost, 0).ok());
  EXPECT_NE(setup.host[0], std::byte(1));
  ASSERT_TRUE(setup.next().ok());
  EXPECT_EQ(setup.host[0], std::byte(1));
}

TEST(AsyncWork, aCallThatFailsNamesItself) {
  Working setup({.failCopyAt = 2});
  ASSERT_TRUE(setup.begin(Lane::ToHost, 0).ok());
  Status s = setup.begin(Lane::ToDevice, 1);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "cuMemcpyHtoDAsync failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_TRUE(setup.work->drain(std::chrono::seconds(1)));
}

TEST(AsyncWork, aStreamThatFailsNamesTheCopy) {
  Working setup({.failStreamAt = 3});
  for (uint32_t i = 0; i < 4; ++i)
    ASSERT_TRUE(setup.begin(Lane::ToHost, i).ok());
  ASSERT_TRUE(setup.next().ok());
  ASSERT_TRUE(setup.next().ok());
  auto third = setup.next();
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.message(), "cuEventQuery failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_EQ(setup.culprit->number, 2u);
  EXPECT_TRUE(setup.work->drain(std::chrono::seconds(1)));
}

TEST(AsyncWork, aDrainIsBounded) {
  Working setup({.stallAt = 1});
  ASSERT_TRUE(setup.begin(Lane::ToHost, 0).ok());
  EXPECT_FALSE(setup.work->drain(std::chrono::milliseconds(20)));
  EXPECT_TRUE(setup.work->anyUnderWay());
  Status s = setup.work->reserve(Lane::ToHost, 9);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), "work of an earlier run is still under way on the device");
}

TEST(AsyncWork, leavesNothing) {
  Working setup({});
  setup.work.reset();
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
