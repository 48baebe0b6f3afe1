// Plans with buffers in device memory: what is copied, when ops start, and how faults end a run.
#include "executor/Plan.h"
#include "tests/device/DeviceInts.h"
#include "tests/device/OneRank.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using Ints = std::vector<int32_t>;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLong{30};

BoundBuffer onHost(Ints &values) { return {values.data(), values.size() * sizeof(int32_t)}; }

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Ends of all ranks of one run; empty where the rank succeeded.
using Ends = std::vector<std::string>;

/// Runs an allgather of n elements per rank in device memory and checks what it gives.
Ends allgather(uint32_t numRanks, size_t n, uint64_t seed, std::chrono::nanoseconds timeout) {
  fake::World world(numRanks, {.seed = seed});
  LoadedImage image(ringAllgather(numRanks));
  Ends ends(numRanks);
  runThreads(numRanks, [&](Rank r) -> std::string {
    std::string &end = ends[index(r)];
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    DeviceInts x(n), y(n * numRanks);
    auto plan = Plan::open(engine, image->rank(r), image->sizeClass(),
                           bindingOf(n, {x.bound(), y.bound()}));
    if (!plan)
      return end = plan.message();
    for (int run = 0; run < 2; ++run) {
      for (size_t i = 0; i < n; ++i)
        x[i] = static_cast<int32_t>(run * 10000 + index(r) * 100 + i);
      Status s = (*plan)->start();
      if (s)
        s = (*plan)->wait(timeout);
      if (!s)
        return end = s.message();
      for (uint32_t from = 0; from < numRanks; ++from)
        for (size_t i = 0; i < n; ++i)
          if (y[from * n + i] != static_cast<int32_t>(run * 10000 + from * 100 + i))
            return end = "wrong data";
    }
    return "";
  });
  return ends;
}

TEST(DevicePlan, givesTheSameInEveryOrderOfTheDevice) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    FakeDevice::reset({.seed = seed});
    for (const std::string &end : allgather(4, 7, seed, kLong))
      EXPECT_EQ(end, "") << "seed " << seed;
    EXPECT_EQ(FakeDevice::misuse(), "");
    EXPECT_EQ(FakeDevice::left(), 0u);
  }
}

/// A plan of one rank.
class OnOneRank : public OneRank {
protected:
  OnOneRank() { FakeDevice::reset({}); }
  Result<std::unique_ptr<Plan>> open(const Binding &binding) {
    image_.emplace(builder_.schedule);
    return Plan::open(engine_, (*image_)->rank(kMe), (*image_)->sizeClass(), binding);
  }
  static void run(Plan &plan) {
    ASSERT_TRUE(plan.start().ok());
    Status s = plan.wait(kLong);
    ASSERT_TRUE(s.ok()) << s.message();
  }
};

TEST_F(OnOneRank, copiesWhatIsReadAndWhatIsWritten) {
  BufferId x = builder_.buffer(BufferRole::In, 4), y = builder_.buffer(BufferRole::Out, 4);
  builder_.copy(kMe, {builder_.block(x, 1)}, {builder_.block(y, 2)});
  DeviceInts from(16), to(16);
  for (int32_t i = 0; i < 16; ++i)
    from[i] = i, to[i] = -1;
  auto plan = open(bindingOf(4, {from.bound(), to.bound()}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan);
  for (int32_t i = 0; i < 16; ++i)
    EXPECT_EQ(to[i], i >= 8 && i < 12 ? i - 4 : -1) << i;
  EXPECT_EQ(FakeDevice::copies(), 1u);
  EXPECT_EQ(FakeDevice::bytesWithin(), 16u);
}

// Between memory of the device and of the host.
TEST_F(OnOneRank, copiesToTheHostWhatIsReadThereAndBackWhatIsWritten) {
  BufferId x = builder_.buffer(BufferRole::In, 4), y = builder_.buffer(BufferRole::Out, 4),
           z = builder_.buffer(BufferRole::Out, 4);
  builder_.copy(kMe, {builder_.block(x, 1)}, {builder_.block(y, 2)});
  builder_.copy(kMe, {builder_.block(x, 3)}, {builder_.block(z, 0)});
  DeviceInts from(16), to(16);
  Ints host(16, -1);
  for (int32_t i = 0; i < 16; ++i)
    from[i] = i, to[i] = -1;
  auto plan = open(bindingOf(4, {from.bound(), onHost(host), to.bound()}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan);
  for (int32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(host[i], i >= 8 && i < 12 ? i - 4 : -1) << i;
    EXPECT_EQ(to[i], i < 4 ? i + 12 : -1) << i;
  }
  EXPECT_EQ(FakeDevice::bytesToHost(), 16u);
  EXPECT_EQ(FakeDevice::bytesToDevice(), 0u);
  EXPECT_EQ(FakeDevice::bytesWithin(), 16u);
}

// The results of several ops lie beside each other, and two segments have them.
TEST_F(OnOneRank, neighborsThatAreReadyTogetherAreOneCopy) {
  constexpr uint32_t kBlocks = 8;
  BufferId x = builder_.buffer(BufferRole::In, kBlocks),
           y = builder_.buffer(BufferRole::Out, kBlocks);
  for (uint32_t b : {1, 0, 2, 3, 7, 6, 5, 4})
    builder_.copy(kMe, {builder_.block(x, b)}, {builder_.block(y, kBlocks - 1 - b)});
  Ints from(kBlocks);
  for (uint32_t b = 0; b < kBlocks; ++b)
    from[b] = static_cast<int32_t>(b);
  DeviceInts to(kBlocks);
  auto plan = open(bindingOf(1, {onHost(from), to.bound()}, 4 * sizeof(int32_t)));
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan);
  for (uint32_t b = 0; b < kBlocks; ++b)
    EXPECT_EQ(to[b], static_cast<int32_t>(kBlocks - 1 - b));
  EXPECT_EQ(FakeDevice::copies(), 2u);
}

TEST_F(OnOneRank, hostMemoryAndDeviceMemoryMix) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::InOut, 1);
  builder_.combine(kMe, builder_.block(x, 0), builder_.block(y, 0), Reduction::Sum, Side::After);
  Ints host{1, 2, 3};
  DeviceInts sum(3);
  for (int32_t i = 0; i < 3; ++i)
    sum[i] = 10 * i;
  auto plan = open(bindingOf(3, {onHost(host), sum.bound()}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan);
  run(**plan);
  for (int32_t i = 0; i < 3; ++i)
    EXPECT_EQ(sum[i], 10 * i + 2 * (i + 1));
  ASSERT_TRUE((*plan)->bind(bindingOf(3, {sum.bound(), onHost(host)})).ok());
  run(**plan);
  EXPECT_EQ(host, (Ints{3, 16, 29}));
  uint64_t before = FakeDevice::copies();
  Ints other{1, 1, 1};
  ASSERT_TRUE((*plan)->bind(bindingOf(3, {onHost(other), onHost(host)})).ok());
  run(**plan);
  EXPECT_EQ(host, (Ints{4, 17, 30}));
  EXPECT_EQ(FakeDevice::copies(), before) << "a plan without device memory uses the device";
}

/// A combine of x and y into y, and a copy of y to z, of which y and z are of the device.
class Combining : public OnOneRank {
protected:
  void combine(bool isXOnDevice, uint64_t combinesFrom) {
    BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::InOut, 1),
             z = builder_.buffer(BufferRole::Out, 1);
    OpId sum = builder_.combine(kMe, builder_.block(x, 0), builder_.block(y, 0), Reduction::Sum,
                                Side::After);
    builder_.copy(kMe, {builder_.block(y, 0)}, {builder_.block(z, 0)}, {after(sum)});
    DeviceInts ofDevice(4), ys(4), zs(4);
    Ints ofHost(4);
    for (int32_t i = 0; i < 4; ++i)
      ofDevice[i] = ofHost[i] = i, ys[i] = 10;
    Binding binding = bindingOf(
        4, {isXOnDevice ? ofDevice.bound() : onHost(ofHost), ys.bound(), zs.bound()}, 1024);
    binding.deviceCombinesFrom = combinesFrom;
    auto plan = open(binding);
    ASSERT_TRUE(plan.ok()) << plan.message();
    run(**plan);
    for (int32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(ys[i], 10 + i);
      EXPECT_EQ(zs[i], 10 + i);
    }
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
};

TEST_F(Combining, runsOnTheDeviceThatHasItsOperands) {
  combine(true, UINT64_MAX / 4);
  EXPECT_EQ(FakeDevice::bytesToHost(), 0u);
  EXPECT_EQ(FakeDevice::bytesToDevice(), 0u);
}

// The combine reads the source of the copy, which does nothing.
TEST_F(OnOneRank, copiesThatCombinesTookOverTouchNothing) {
  BufferId x = builder_.buffer(BufferRole::In, 1), z = builder_.buffer(BufferRole::In, 1),
           y = builder_.buffer(BufferRole::Out, 1);
  OpId copy = builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  builder_.combine(kMe, builder_.block(z, 0), builder_.block(y, 0), Reduction::Sum, Side::After,
                   {after(copy)});
  DeviceInts xs(4), zs(4), ys(4);
  for (int32_t i = 0; i < 4; ++i)
    xs[i] = 10 * i, zs[i] = i;
  auto plan = open(bindingOf(4, {xs.bound(), zs.bound(), ys.bound()}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan);
  for (int32_t i = 0; i < 4; ++i)
    EXPECT_EQ(ys[i], 11 * i);
  EXPECT_EQ(FakeDevice::copies(), 0u);
  EXPECT_EQ(FakeDevice::kernels(), 1u);
}

// Memory of the caller on the host is not page-locked, so no op on the device touches it.
TEST_F(Combining, runsOnTheHostIfAnOperandIsTheCallersThere) {
  combine(false, 1);
  EXPECT_EQ(FakeDevice::bytesToHost(), 16u);
  EXPECT_EQ(FakeDevice::bytesToDevice(), 16u) << "y, from which z is copied there";
}

// Combines into one target, one behind the other, whose sources are there.
TEST_F(OnOneRank, combinesSeveralSourcesInOneKernel) {
  for (uint32_t count : {2, 8, 9, 20}) {
    FakeDevice::reset({.seed = count});
    Builder builder(1);
    std::vector<BufferId> xs;
    for (uint32_t i = 0; i < count; ++i)
      xs.push_back(builder.buffer(BufferRole::In, 1));
    BufferId y = builder.buffer(BufferRole::InOut, 1);
    std::vector<Dep> deps;
    for (uint32_t i = 0; i < count; ++i)
      deps = {after(builder.combine(kMe, builder.block(xs[i], 0), builder.block(y, 0),
                                    Reduction::Sum, Side::After, deps))};
    std::vector<DeviceInts> sources;
    std::vector<BoundBuffer> bound;
    for (uint32_t i = 0; i < count; ++i) {
      sources.emplace_back(5);
      for (int32_t k = 0; k < 5; ++k)
        sources[i][k] = static_cast<int32_t>(i) * k;
      bound.push_back(sources[i].bound());
    }
    DeviceInts target(5);
    for (int32_t k = 0; k < 5; ++k)
      target[k] = 1000;
    bound.push_back(target.bound());
    builder_ = builder;
    auto plan = open(bindingOf(5, bound));
    ASSERT_TRUE(plan.ok()) << plan.message();
    run(**plan);
    for (int32_t k = 0; k < 5; ++k)
      EXPECT_EQ(target[k], 1000 + static_cast<int32_t>(count * (count - 1) / 2) * k) << count;
    EXPECT_EQ(FakeDevice::kernels(), (count + 7) / 8) << count;
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
}

/// Ranks in a row, each of which passes y on to the next one, two blocks of it.
uint64_t passOn(uint32_t numRanks, bool isDeviceOnly, Ends &ends) {
  Builder builder(numRanks);
  BufferId y = builder.buffer(BufferRole::InOut, 2);
  for (uint32_t r = 0; r < numRanks; ++r)
    for (uint32_t block : {0, 1}) {
      std::vector<Dep> deps;
      if (r > 0)
        deps.push_back(after(builder.recv(Rank{r}, Rank{r - 1}, {builder.block(y, block)})));
      if (r + 1 < numRanks)
        builder.send(Rank{r}, Rank{r + 1}, {builder.block(y, block)}, deps);
    }
  fake::World world(numRanks);
  LoadedImage image(builder.schedule);
  ends.assign(numRanks, "");
  constexpr uint32_t kCount = 6;
  runThreads(numRanks, [&](Rank r) -> std::string {
    std::string &end = ends[index(r)];
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    DeviceInts ints(2 * kCount);
    for (uint32_t i = 0; i < 2 * kCount; ++i)
      ints[i] = r == Rank{0} ? static_cast<int32_t>(i) : -1;
    Binding binding = isDeviceOnly ? deviceOnlyBindingOf(kCount, {ints.bound()})
                                   : bindingOf(kCount, {ints.bound()});
    auto plan = Plan::open(engine, image->rank(r), image->sizeClass(), binding);
    if (!plan)
      return end = plan.message();
    for (int run = 0; run < 2; ++run) {
      Status s = (*plan)->start();
      if (s)
        s = (*plan)->wait(kLong);
      if (!s)
        return end = s.message();
      for (uint32_t i = 0; i < 2 * kCount; ++i)
        if (ints[i] != static_cast<int32_t>(i))
          end = "wrong data";
    }
    return end;
  });
  return 2 * kCount * sizeof(int32_t) * 2; // bytes of y in both runs
}

// A rank that passes data on keeps them on the host, and copies them to its device once.
TEST(DeviceMessages, dataOfTheHostGoToTheDeviceOnce) {
  FakeDevice::reset({.seed = 3});
  Ends ends;
  uint64_t bytes = passOn(4, false, ends);
  EXPECT_EQ(ends, Ends(4));
  EXPECT_EQ(FakeDevice::bytesToHost(), bytes) << "of the first rank";
  EXPECT_EQ(FakeDevice::bytesToDevice(), 3 * bytes) << "of each of the others";
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST(DeviceMessages, goFromDeviceToDevice) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    FakeDevice::reset({.seed = seed});
    Ends ends;
    uint64_t bytes = passOn(4, true, ends);
    EXPECT_EQ(ends, Ends(4));
    EXPECT_EQ(FakeDevice::bytesToHost(), 0u);
    EXPECT_EQ(FakeDevice::bytesToDevice(), 0u);
    EXPECT_EQ(FakeDevice::bytesWithin(), 3 * bytes);
    EXPECT_EQ(FakeDevice::misuse(), "");
    EXPECT_EQ(FakeDevice::left(), 0u);
  }
}

// Schedules made for one rank alone have hashes as ids, alike in both directions.
TEST(DeviceMessages, answersAreNoOtherMessages) {
  Builder builder(2);
  BufferId x = builder.buffer(BufferRole::In, 1), y = builder.buffer(BufferRole::Out, 1);
  for (uint32_t r : {0, 1}) {
    builder.send(Rank{r}, Rank{1 - r}, {builder.block(x, 0)});
    builder.recv(Rank{r}, Rank{1 - r}, {builder.block(y, 0)});
    for (Op &op : builder.schedule.ranks[r].ops)
      op.message = MessageId{UINT64_MAX};
  }
  FakeDevice::reset({});
  fake::World world(2);
  LoadedImage image(builder.schedule);
  EXPECT_EQ(runThreads(2,
                       [&](Rank r) -> std::string {
                         auto endpoint = world.attach(r);
                         Engine engine(*endpoint);
                         DeviceInts from(4), to(4);
                         from[3] = static_cast<int32_t>(index(r));
                         Binding binding = bindingOf(4, {from.bound(), to.bound()});
                         binding.deviceOnly = true;
                         binding.deviceMessagesFrom = 1;
                         auto plan =
                             Plan::open(engine, image->rank(r), image->sizeClass(), binding);
                         if (!plan)
                           return plan.message();
                         Status s = (*plan)->start();
                         s = s ? (*plan)->wait(kLong) : s;
                         bool isRight = to[3] == 1 - static_cast<int32_t>(index(r));
                         return !s ? s.message() : isRight ? "" : "wrong data";
                       }),
            "");
}

// A rank without elements of its own passes on those of others.
TEST(DeviceMessages, passThroughARankThatHasADevice) {
  Builder builder(3);
  BufferId x = builder.buffer(BufferRole::InOut, 1), y = builder.buffer(BufferRole::Temp, 1);
  for (uint32_t r : {0, 2})
    builder.schedule.ranks[r].buffers[index(y)].significant = true;
  builder.schedule.ranks[1].buffers[index(x)].significant = false;
  builder.send(Rank{0}, Rank{1}, {builder.block(x, 0)});
  OpId comes = builder.recv(Rank{1}, Rank{0}, {builder.block(y, 0)});
  builder.send(Rank{1}, Rank{2}, {builder.block(y, 0)}, {after(comes)});
  builder.recv(Rank{2}, Rank{1}, {builder.block(x, 0)});
  LoadedImage image(builder.schedule);
  for (bool hasDevice : {true, false}) {
    FakeDevice::reset({});
    fake::World world(3);
    Ends ends(3);
    runThreads(3, [&](Rank r) -> std::string {
      std::string &end = ends[index(r)];
      auto endpoint = world.attach(r);
      Engine engine(*endpoint);
      DeviceInts ints(4);
      for (int32_t i = 0; i < 4; ++i)
        ints[i] = r == Rank{0} ? i + 1 : 0;
      BoundBuffer bound = r == Rank{1} ? BoundBuffer{} : ints.bound();
      if (r == Rank{1} && hasDevice)
        bound = {ints.data, 0, false, &FakeDevice::driver()};
      auto plan =
          Plan::open(engine, image->rank(r), image->sizeClass(), deviceOnlyBindingOf(4, {bound}));
      if (!plan)
        return end = plan.message();
      Status s = (*plan)->start();
      if (s)
        s = (*plan)->wait(kLong);
      if (s && r == Rank{2} && ints[3] != 4)
        end = "wrong data";
      return end = s ? end : s.message();
    });
    for (const std::string &end : ends)
      EXPECT_TRUE(hasDevice ? end.empty() : contains(end, "has no buffer in device memory")) << end;
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
}

// Any copy of the device that fails, at its call or later, ends all ranks.
TEST(DeviceMessages, aFaultEndsAllRanks) {
  for (auto fault : {&FakeDeviceOptions::failCopyAt, &FakeDeviceOptions::failStreamAt})
    for (uint64_t k = 1; k <= 12; ++k) {
      FakeDeviceOptions options{.seed = k};
      options.*fault = k;
      FakeDevice::reset(options);
      Ends ends;
      passOn(4, true, ends);
      EXPECT_NE(ends, Ends(4)) << k;
      for (const std::string &end : ends)
        EXPECT_TRUE(end.empty() || contains(end, "on the device: ")) << k << ": " << end;
      EXPECT_EQ(FakeDevice::misuse(), "");
    }
}

// One block is there while the other one is still on its way.
TEST_F(OnOneRank, anOpWaitsForItsOwnSegmentsOnly) {
  BufferId x = builder_.buffer(BufferRole::In, 2), y = builder_.buffer(BufferRole::Out, 2);
  builder_.copy(kMe, {builder_.block(x, 1)}, {builder_.block(y, 1)});
  builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  FakeDevice::reset({.stallAt = 2});
  DeviceInts from(4);
  from[2] = 5;
  Ints to(4);
  auto plan = open(bindingOf(2, {from.bound(), onHost(to)}));
  ASSERT_TRUE(plan.ok()) << plan.message();
  ASSERT_TRUE((*plan)->start().ok());
  EXPECT_FALSE((*plan)->waitFor(std::chrono::milliseconds(20)));
  EXPECT_EQ(to[2], 5);
  EXPECT_EQ(to[0], 0);
  Status s = (*plan)->wait(std::chrono::milliseconds(1));
  EXPECT_FALSE(s.ok());
  EXPECT_TRUE((*plan)->timedOut());
}

// Elements behind the length of a block stay as they were.
TEST_F(OnOneRank, blocksOfCapacityKeepTheirRests) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  auto blockOf = [&](BufferId id) {
    Buffer &buffer = builder_.schedule.ranks[0].buffers[index(id)];
    buffer.layout = Layout::Capacity;
    buffer.blocks = 1;
    Slice slice;
    slice.endScale = 1;
    slice.buffer = id;
    slice.block = 0;
    return slice;
  };
  builder_.copy(kMe, {blockOf(x)}, {blockOf(y)});
  DeviceInts from(4), to(4);
  for (int32_t i = 0; i < 4; ++i)
    from[i] = i + 1, to[i] = -1;
  Binding binding = bindingOf(4, {from.bound(), to.bound()});
  binding.blocks = {{{}, {3}}, {}};
  auto plan = open(binding);
  ASSERT_TRUE(plan.ok()) << plan.message();
  run(**plan);
  for (int32_t i = 0; i < 4; ++i)
    EXPECT_EQ(to[i], i < 3 ? i + 1 : -1) << i;
  EXPECT_EQ((*plan)->blockLengths(y), (std::vector<uint64_t>{3}));
}

TEST_F(OnOneRank, refusesMemoryOfTwoContexts) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  DeviceInts here(3, 0), there(3, 1);
  auto plan = open(bindingOf(3, {here.bound(), there.bound()}));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.message(), "buffer 0 and buffer 1 are memory of different devices or contexts");
}

TEST_F(OnOneRank, refusesHostMemoryThatIsSaidToBeOfTheDevice) {
  BufferId x = builder_.buffer(BufferRole::In, 1), y = builder_.buffer(BufferRole::Out, 1);
  builder_.copy(kMe, {builder_.block(x, 0)}, {builder_.block(y, 0)});
  Ints host(3), to(3);
  BoundBuffer wrong = onHost(host);
  wrong.driver = &FakeDevice::driver();
  auto plan = open(bindingOf(3, {wrong, onHost(to)}));
  ASSERT_FALSE(plan.ok());
  EXPECT_TRUE(contains(plan.message(), "buffer 0: the address ")) << plan.message();
  EXPECT_TRUE(contains(plan.message(), " is not of device memory")) << plan.message();
}

/// Any copy that fails, at its call or on the device, ends all ranks with the reason.
void anyFaultEndsAllRanks(uint64_t FakeDeviceOptions::*fault, const char *call) {
  constexpr uint32_t kRanks = 3;
  FakeDevice::reset({});
  for (const std::string &end : allgather(kRanks, 5, 1, kLong))
    ASSERT_EQ(end, "");
  const uint64_t all = FakeDevice::copies();
  ASSERT_GT(all, 2 * kRanks);
  for (uint64_t k = 1; k <= all; ++k) {
    FakeDeviceOptions options{.seed = k};
    options.*fault = k;
    FakeDevice::reset(options);
    auto begin = Clock::now();
    Ends ends = allgather(kRanks, 5, k, kLong);
    EXPECT_LT(Clock::now() - begin, kLong / 2) << k;
    size_t failed = 0;
    bool isNamed = false;
    for (const std::string &end : ends) {
      failed += !end.empty();
      if (end.empty())
        continue;
      EXPECT_TRUE(contains(end, call) && contains(end, "CUDA_ERROR_ILLEGAL_ADDRESS (700)") &&
                  (contains(end, "the copy of bytes ") || contains(end, "on the device: ")) &&
                  contains(end, "cannot finish op "))
          << k << ": " << end;
      isNamed |= contains(end, "rank ");
    }
    EXPECT_GT(failed, 0u) << k;
    EXPECT_TRUE(isNamed) << k;
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
}

TEST(DeviceFaults, aCallThatFailsEndsAllRanks) {
  anyFaultEndsAllRanks(&FakeDeviceOptions::failCopyAt, "Async failed: ");
}

TEST(DeviceFaults, aStreamThatFailsEndsAllRanks) {
  anyFaultEndsAllRanks(&FakeDeviceOptions::failStreamAt, "cuEventQuery failed: ");
}

TEST(DeviceFaults, aStreamThatStandsStillEndsInATimeout) {
  for (uint64_t k : {1, 4, 9}) {
    FakeDevice::reset({.seed = k, .stallAt = k});
    auto begin = Clock::now();
    Ends ends = allgather(3, 5, k, std::chrono::milliseconds(200));
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
    bool timedOut = false;
    for (const std::string &end : ends)
      timedOut |= contains(end, "timed out after ");
    EXPECT_TRUE(timedOut) << k;
  }
}

} // namespace
} // namespace colldsl::test
