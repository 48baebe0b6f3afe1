// Device memory of other processes, on the fake device.
#include "device/IpcMemory.h"
#include "device/AsyncWork.h"
#include "executor/Plan.h"
#include "tests/device/DeviceInts.h"
#include "tests/device/OneRank.h"
#include "tests/device/OtherProcess.h"

#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using device::ExportedMemory;
using device::IpcCache;
using device::Lane;
using device::OpenedMemory;

constexpr uint64_t kBytes = 10000;

const device::CudaDriver &driver() { return FakeDevice::driver(); }

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// The test tells the owner of memory to do this.
enum class Order : uint8_t { Allocate, Set, Free };
struct Message {
  Order order;
  std::byte value{};
};

/// A process that allocates `kBytes` bytes, sets them and frees them.
class Owner {
public:
  explicit Owner(uint32_t context = 0)
      : process_([context](OtherProcess::Channel channel) {
          device::CurrentContext current(driver(), FakeDevice::context(context));
          device::DeviceAddress memory = 0;
          Message message;
          while (channel.receive(message)) {
            switch (message.order) {
            case Order::Allocate:
              driver().memAlloc(&memory, kBytes);
              channel.send(*device::exportMemory(driver(), reinterpret_cast<void *>(memory + 100),
                                                 kBytes - 100));
              break;
            case Order::Set:
              std::memset(reinterpret_cast<void *>(memory), static_cast<int>(message.value),
                          kBytes);
              channel.send(true);
              break;
            case Order::Free:
              driver().memFree(memory);
              channel.send(true);
            }
          }
        }) {}
  /// The bytes of a new allocation from the hundredth on.
  ExportedMemory allocate() { return ask<ExportedMemory>({Order::Allocate}); }
  void set(int value) { ask<bool>({Order::Set, std::byte(value)}); }
  void free() { ask<bool>({Order::Free}); }

private:
  template <typename Answer> Answer ask(const Message &message) {
    Answer answer{};
    process_.channel().send(message);
    EXPECT_TRUE(process_.channel().receive(answer));
    return answer;
  }
  OtherProcess process_;
};

class IpcMemory : public testing::Test {
protected:
  IpcMemory() {
    FakeDevice::reset({});
    cache_.emplace(driver(), FakeDevice::context(0), 2);
  }
  /// Copies the opened memory to the host; the byte that all of it has, or -1.
  int read(const OpenedMemory &memory, uint64_t bytes = kBytes - 100) {
    std::vector<std::byte> host(bytes);
    device::CurrentContext current(driver(), FakeDevice::context(0));
    driver().memHostRegister(host.data(), bytes, 0);
    auto work = device::AsyncWork::open(driver(), FakeDevice::context(0)).take();
    EXPECT_TRUE(work->reserve(Lane::ToHost, 1).ok());
    EXPECT_TRUE(work->copy(Lane::ToHost, host.data(), memory.address(), bytes, 0).ok());
    EXPECT_TRUE(work->drain(std::chrono::seconds(10)));
    driver().memHostUnregister(host.data());
    for (std::byte byte : host)
      if (byte != host[0])
        return -1;
    return static_cast<int>(host[0]);
  }
  std::optional<IpcCache> cache_;
};

TEST_F(IpcMemory, isThatOfTheOtherProcess) {
  Owner owner;
  ExportedMemory exported = owner.allocate();
  owner.set(1);
  {
    auto opened = cache_->open(exported);
    ASSERT_TRUE(opened.ok()) << opened.message();
    EXPECT_EQ(read(*opened), 1);
    owner.set(2);
    EXPECT_EQ(read(*opened), 2);
  }
  EXPECT_EQ(FakeDevice::misuse(), "");
  EXPECT_EQ(FakeDevice::left(), 1u);
  cache_.reset();
  EXPECT_EQ(FakeDevice::left(), 0u);
}

// A copy within the device from another process's memory reads it when it runs.
TEST_F(IpcMemory, isReadWhenTheCopyRuns) {
  Owner owner;
  ExportedMemory exported = owner.allocate();
  owner.set(1);
  auto opened = cache_->open(exported);
  ASSERT_TRUE(opened.ok()) << opened.message();
  auto *target = static_cast<std::byte *>(FakeDevice::allocate(16));
  auto work = device::AsyncWork::open(driver(), FakeDevice::context(0)).take();
  ASSERT_TRUE(work->reserve(Lane::Within, 1).ok());
  ASSERT_TRUE(work->addCopyWithin(work->begin(Lane::Within),
                                  reinterpret_cast<device::DeviceAddress>(target),
                                  opened->address(), 16)
                  .ok());
  ASSERT_TRUE(work->end(Lane::Within, 0).ok());
  owner.set(2);
  EXPECT_TRUE(work->drain(std::chrono::seconds(10)));
  EXPECT_EQ(target[15], std::byte(2));
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST_F(IpcMemory, staysOpenForTheNextTime) {
  FakeDevice::reset({.failCall = "cuIpcOpenMemHandle_v2", .failCallAt = 2});
  Owner owner;
  ExportedMemory exported = owner.allocate();
  for (int time = 0; time < 3; ++time)
    ASSERT_TRUE(cache_->open(exported).ok());
  EXPECT_EQ(cache_->numOpen(), 1u);
  owner.free();
  auto another = cache_->open(owner.allocate());
  ASSERT_FALSE(another.ok());
  EXPECT_EQ(another.message(), "device memory of another process cannot be opened: "
                               "cuIpcOpenMemHandle failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
}

// The next allocation has the address of the one before.
TEST_F(IpcMemory, aNewAllocationIsNotTakenForTheOldOne) {
  Owner owner;
  ExportedMemory first = owner.allocate();
  owner.set(1);
  ASSERT_TRUE(cache_->open(first).ok());
  owner.free();
  ExportedMemory second = owner.allocate();
  owner.set(2);
  EXPECT_EQ(second.begin, first.begin);
  auto opened = cache_->open(second);
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(read(*opened), 2);
  EXPECT_EQ(FakeDevice::misuse(), "");
  EXPECT_EQ(cache_->numOpen(), 1u) << "what the owner has freed stays open";
}

TEST_F(IpcMemory, memoryThatWasFreedIsNotOpened) {
  Owner owner;
  ExportedMemory exported = owner.allocate();
  owner.free();
  auto opened = cache_->open(exported);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.message(), "device memory of another process cannot be opened: "
                              "cuIpcOpenMemHandle failed: CUDA_ERROR_INVALID_VALUE (1)");
}

TEST_F(IpcMemory, onlyMemoryInUseIsKeptBeyondTheBound) {
  Owner owner;
  std::vector<ExportedMemory> exported;
  std::vector<OpenedMemory> inUse;
  for (int i = 0; i < 5; ++i) {
    exported.push_back(owner.allocate());
    owner.set(i);
    inUse.push_back(cache_->open(exported.back()).take());
  }
  EXPECT_EQ(cache_->numOpen(), 5u);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(read(inUse[static_cast<size_t>(i)]), i);
  OpenedMemory last = std::move(inUse[4]);
  inUse.clear();
  EXPECT_EQ(cache_->numOpen(), 3u);
  EXPECT_EQ(read(last), 4);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST_F(IpcMemory, ofThisProcessNeedsNoHandle) {
  device::CurrentContext current(driver(), FakeDevice::context(0));
  auto *memory = static_cast<std::byte *>(FakeDevice::allocate(kBytes));
  auto exported = device::exportMemory(driver(), memory + 100, kBytes - 100);
  ASSERT_TRUE(exported.ok()) << exported.message();
  device::DeviceAddress address = 0;
  EXPECT_EQ(driver().ipcOpenMemHandle(&address, exported->handle, 1), kCudaInvalidContext);
  auto opened = cache_->open(*exported);
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(opened->address(), reinterpret_cast<device::DeviceAddress>(memory + 100));
  IpcCache other(driver(), FakeDevice::context(1), 2);
  auto there = other.open(*exported);
  ASSERT_FALSE(there.ok());
  EXPECT_EQ(there.message(), "device memory of this process is of another context");
}

TEST_F(IpcMemory, memoryWithoutHandleIsRefused) {
  auto whyNot = [](void *address, uint64_t bytes) {
    auto exported = device::exportMemory(driver(), address, bytes);
    return exported ? std::string("it is exported") : exported.message();
  };
  std::string why = whyNot(FakeDevice::allocate(8, 0, FakeMemoryKind::Pool), 8);
  EXPECT_TRUE(contains(why, "belongs to no context, as memory of pools does")) << why;
  why = whyNot(FakeDevice::allocate(8, 0, FakeMemoryKind::Managed), 8);
  EXPECT_TRUE(contains(why, "cannot be opened by other processes: cuIpcGetMemHandle failed: "
                            "CUDA_ERROR_INVALID_VALUE (1)"))
      << why;
  why = whyNot(FakeDevice::allocate(8), 9);
  EXPECT_TRUE(contains(why, "ends after 8 bytes, before the 9 bytes that were given")) << why;
  int onHost = 0;
  EXPECT_TRUE(contains(whyNot(&onHost, 4), "is not of device memory"));
}

TEST_F(IpcMemory, devicesThatDoNotReachEachOtherSaySo) {
  FakeDevice::reset({.reachesPeers = false});
  Owner here(0), there(1);
  EXPECT_TRUE(cache_->open(here.allocate()).ok());
  auto opened = cache_->open(there.allocate());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.message(),
            "device memory of another process cannot be opened: cuIpcOpenMemHandle failed: "
            "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED (217)");
}

TEST_F(IpcMemory, anOldDriverSaysSo) {
  Owner owner;
  device::CudaDriver old = driver();
  old.ipcOpenMemHandle = nullptr;
  IpcCache cache(old, FakeDevice::context(0), 2);
  auto opened = cache.open(owner.allocate());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.message(), "the driver of CUDA is too old to open memory of other processes: it "
                              "has no function cuIpcOpenMemHandle_v2");
}

TEST_F(IpcMemory, nothingIsClosedWithinARun) {
  Owner owner;
  std::optional<IpcCache::Run> run(*cache_), other(*cache_);
  ASSERT_TRUE(cache_->open(owner.allocate()).ok());
  owner.free();
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(cache_->open(owner.allocate()).ok());
  EXPECT_EQ(cache_->numOpen(), 5u);
  other.reset();
  EXPECT_EQ(cache_->numOpen(), 5u);
  run.reset();
  EXPECT_EQ(cache_->numOpen(), 2u);
}

/// A plan of one rank that copies x to y within the device.
class IpcMemoryOfPlans : public OneRank {
protected:
  IpcMemoryOfPlans() {
    FakeDevice::reset({});
    BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
    builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
    image_.emplace(builder_.schedule);
  }
  static uint64_t closes() { return FakeDevice::calls("cuIpcCloseMemHandle"); }

  /// The cache opens memory that its owner then frees. That is known while the run is under way,
  /// and memory is closed at its end.
  void run(Plan &plan, IpcCache &cache, const std::function<void()> &start) {
    Owner owner;
    ASSERT_TRUE(cache.open(owner.allocate()).ok());
    owner.free();
    FakeDevice::hold();
    start();
    ASSERT_TRUE(cache.open(owner.allocate()).ok());
    EXPECT_EQ(closes(), 0u);
    EXPECT_TRUE(plan.running());
    FakeDevice::release();
    EXPECT_TRUE(plan.wait(std::chrono::seconds(30)).ok());
    EXPECT_EQ(closes(), 1u);
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
};

TEST_F(IpcMemoryOfPlans, isClosedAfterARunOfTheDevice) {
  DeviceInts x(4), y(4);
  auto plan = Plan::open(engine_, (*image_)->rank(kMe), (*image_)->sizeClass(),
                         bindingOf(4, {x.bound(), y.bound()}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan, *IpcCache::of(driver(), FakeDevice::context(0)),
      [&] { ASSERT_TRUE((*plan)->start().ok()); });
}

// The run is of memory of the host.
TEST_F(IpcMemoryOfPlans, isClosedAfterARunThatAStreamWaitsFor) {
  std::vector<int32_t> x(4), y(4);
  DeviceInts from(4), to(4);
  auto plan = Plan::open(engine_, (*image_)->rank(kMe), (*image_)->sizeClass(),
                         bindingOf(4, {{x.data(), 16}, {y.data(), 16}}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  auto cache = IpcCache::of(driver(), FakeDevice::context(0));
  device::CurrentContext current(driver(), FakeDevice::context(0));
  device::CuStream producer = nullptr, consumer = nullptr;
  driver().streamCreate(&producer, device::kStreamNonBlocking);
  driver().streamCreate(&consumer, device::kStreamNonBlocking);
  run(**plan, *cache, [&] {
    driver().memcpyDtoDAsync(reinterpret_cast<device::DeviceAddress>(to.data),
                             reinterpret_cast<device::DeviceAddress>(from.data), 16, producer);
    ASSERT_TRUE((*plan)->startOnStream(driver(), producer).ok());
    ASSERT_TRUE((*plan)->waitOnStream(driver(), consumer).ok());
  });
  driver().streamDestroy(producer);
  driver().streamDestroy(consumer);
}

TEST_F(IpcMemory, callsThatWaitForTheCallerAreFound) {
  device::CurrentContext current(driver(), FakeDevice::context(0));
  auto order = device::StreamOrder::open(driver(), FakeDevice::context(0)).take();
  device::CuStream stream = nullptr;
  driver().streamCreate(&stream, device::kStreamNonBlocking);
  device::DeviceAddress memory = 0;
  driver().memAlloc(&memory, 8);
  ASSERT_TRUE(order->follow(stream).ok());
  driver().memFree(memory);
  EXPECT_EQ(FakeDevice::misuse(), "a call that waits for the device, which waits for the caller");
}

// The fake finds what a GPU may let pass.
TEST_F(IpcMemory, useAfterTheOwnerFreedItIsFound) {
  Owner owner;
  auto opened = cache_->open(owner.allocate());
  ASSERT_TRUE(opened.ok()) << opened.message();
  owner.free();
  device::CurrentContext current(driver(), FakeDevice::context(0));
  device::CuStream stream;
  driver().streamCreate(&stream, 0);
  auto target = reinterpret_cast<device::DeviceAddress>(FakeDevice::allocate(8));
  EXPECT_NE(driver().memcpyDtoDAsync(target, opened->address(), 8, stream), device::kCudaSuccess);
  EXPECT_EQ(FakeDevice::misuse(), "work on memory that its owner has freed");
}

TEST_F(IpcMemory, closingUnderWorkIsFound) {
  Owner owner;
  device::CurrentContext current(driver(), FakeDevice::context(0));
  device::CuStream stream;
  driver().streamCreate(&stream, 0);
  auto target = reinterpret_cast<device::DeviceAddress>(FakeDevice::allocate(8));
  {
    auto opened = cache_->open(owner.allocate());
    ASSERT_TRUE(opened.ok()) << opened.message();
    ASSERT_EQ(driver().memcpyDtoDAsync(target, opened->address(), 8, stream), device::kCudaSuccess);
  }
  cache_.reset();
  EXPECT_EQ(FakeDevice::misuse(), "memory is closed that work under way touches");
}

} // namespace
} // namespace colldsl::test
