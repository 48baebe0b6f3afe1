// Messages that a network moves from and to device memory, past the stages.
#include "executor/Plan.h"
#include "protocol/HybridEndpoint.h"
#include "protocol/fake/FakeWorld.h"
#include "tests/device/FakeDevice.h"
#include "tests/device/NetworkWorld.h"
#include "tests/executor/Schedules.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

using namespace std::chrono_literals;
using Ints = std::vector<int32_t>;
constexpr std::chrono::seconds kLong{30};
constexpr size_t kElements = 100;

int32_t valueAt(int run, uint32_t rank, size_t i) {
  return static_cast<int32_t>(run * 100000 + static_cast<int>(rank) * 1000 + static_cast<int>(i));
}

/// A buffer of integers of one rank, in device memory or in memory of the host.
class Buffer {
public:
  Buffer(size_t count, bool isOnDevice)
      : isOnDevice_(isOnDevice), host_(isOnDevice ? 0 : count),
        values_(isOnDevice ? static_cast<int32_t *>(FakeDevice::allocate(count * sizeof(int32_t)))
                           : host_.data(),
                count) {}
  int32_t &operator[](size_t i) const { return values_[i]; }
  std::span<int32_t> values() const { return values_; }
  BoundBuffer bound() const {
    return {values_.data(), values_.size_bytes(), false,
            isOnDevice_ ? &FakeDevice::driver() : nullptr};
  }

private:
  bool isOnDevice_;
  Ints host_;
  std::span<int32_t> values_;
};

Binding bindingOf(std::vector<BoundBuffer> buffers) {
  Binding binding;
  binding.elements = kElements;
  binding.buffers = std::move(buffers);
  binding.segmentBytes = 64;
  return binding;
}

std::string run(Plan &plan, std::chrono::nanoseconds timeout = kLong) {
  Status s = plan.start();
  if (s)
    s = plan.wait(timeout);
  return s ? "" : s.message();
}

/// Empty: the rank had the right data.
std::string allgatherOnce(Plan &plan, Rank self, uint32_t numRanks, int k, const Buffer &x,
                          const Buffer &y) {
  for (size_t i = 0; i < kElements; ++i)
    x[i] = valueAt(k, index(self), i);
  std::fill(y.values().begin(), y.values().end(), -1);
  if (std::string s = run(plan); !s.empty())
    return s;
  for (uint32_t from = 0; from < numRanks; ++from)
    for (size_t i = 0; i < kElements; ++i)
      if (y[from * kElements + i] != valueAt(k, from, i))
        return "wrong data";
  return "";
}

/// Runs an allgather over the network. Bit r of `onDevice`: the buffers of rank r are in device
/// memory. Empty: all ranks had the right data.
std::string allgather(NetworkWorld &world, uint32_t numRanks, uint64_t onDevice, int runs = 2) {
  LoadedImage image(ringAllgather(numRanks));
  return runThreads(numRanks, [&](Rank r) -> std::string {
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    bool isOnDevice = onDevice >> index(r) & 1;
    Buffer x(kElements, isOnDevice), y(kElements * numRanks, isOnDevice);
    auto plan =
        Plan::open(engine, image->rank(r), image->sizeClass(), bindingOf({x.bound(), y.bound()}));
    if (!plan)
      return plan.message();
    for (int k = 0; k < runs; ++k)
      if (std::string s = allgatherOnce(**plan, r, numRanks, k, x, y); !s.empty())
        return s;
    return "";
  });
}

constexpr uint64_t kBlockBytes = kElements * sizeof(int32_t);

TEST(DirectMessages, goFromDeviceToDevice) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FakeDevice::reset({.seed = seed});
    NetworkWorld world(3, {.seed = seed});
    EXPECT_EQ(allgather(world, 3, 7), "");
    EXPECT_EQ(FakeDevice::bytesToHost() + FakeDevice::bytesToDevice(), 0u) << seed;
    EXPECT_EQ(world.network.bytesIntoDevice(), 2 * 3 * 2 * kBlockBytes);
    EXPECT_EQ(world.network.bytesFromDevice(), 2 * 3 * 2 * kBlockBytes);
    EXPECT_EQ(world.network.registeredDevices(), 0u);
    EXPECT_EQ(FakeDevice::misuse(), "");
    EXPECT_EQ(FakeDevice::left(), 0u);
  }
}

// Each end has memory of its own kind.
TEST(DirectMessages, eachEndDecidesAlone) {
  for (uint64_t onDevice = 1; onDevice < 8; ++onDevice) {
    FakeDevice::reset({.seed = onDevice});
    NetworkWorld world(3, {.seed = onDevice});
    EXPECT_EQ(allgather(world, 3, onDevice), "");
    EXPECT_EQ(FakeDevice::bytesToHost() + FakeDevice::bytesToDevice(), 0u) << onDevice;
    auto numOnDevice = static_cast<uint64_t>(__builtin_popcountll(onDevice));
    EXPECT_EQ(world.network.bytesIntoDevice(), 2 * 2 * numOnDevice * kBlockBytes);
    EXPECT_EQ(world.network.bytesIntoHost(), 2 * 2 * (3 - numOnDevice) * kBlockBytes);
  }
}

/// Memory that the processor cannot touch while this lives.
class Untouchable {
public:
  explicit Untouchable(std::span<int32_t> values) : values_(values) { set(PROT_NONE); }
  ~Untouchable() { set(PROT_READ | PROT_WRITE); }
  Untouchable(const Untouchable &) = delete;

private:
  void set(int protection) {
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mprotect(values_.data(), (values_.size_bytes() + page - 1) / page * page, protection);
  }
  std::span<int32_t> values_;
};

TEST(DirectMessages, noProcessorTouchesTheirMemory) {
  constexpr uint32_t kRanks = 3;
  FakeDevice::reset({});
  NetworkWorld world(kRanks, {});
  LoadedImage image(flatBroadcast(kRanks));
  EXPECT_EQ(runThreads(kRanks,
                       [&](Rank r) -> std::string {
                         auto endpoint = world.attach(r);
                         Engine engine(*endpoint);
                         Buffer x(kElements, true);
                         auto plan = Plan::open(engine, image->rank(r), image->sizeClass(),
                                                bindingOf({x.bound()}));
                         if (!plan)
                           return plan.message();
                         for (size_t i = 0; i < kElements; ++i)
                           x[i] = valueAt(0, index(r), i);
                         {
                           Untouchable guard(x.values());
                           if (std::string s = run(**plan); !s.empty())
                             return s;
                         }
                         for (size_t i = 0; i < kElements; ++i)
                           if (x[i] != valueAt(0, 0, i))
                             return "wrong data";
                         return "";
                       }),
            "");
}

/// The stages serve.
void expectStages(const FakeDeviceOptions &device, const FakeNetworkOptions &network) {
  FakeDevice::reset(device);
  NetworkWorld world(3, network);
  EXPECT_EQ(allgather(world, 3, 7), "");
  EXPECT_GT(FakeDevice::bytesToHost(), 0u);
  EXPECT_GT(FakeDevice::bytesToDevice(), 0u);
  EXPECT_EQ(world.network.bytesFromDevice() + world.network.bytesIntoDevice(), 0u);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST(DirectMessages, stagesServeWhereACapabilityLacks) {
  expectStages({}, {.registersDevice = false});
  expectStages({.exportsDmaBufs = false}, {});
  EXPECT_EQ(FakeDevice::calls("cuPointerSetAttribute"), 0u); // which nothing takes back
}

// Any of the two registrations of each rank may fail; the rank then stages the messages of that
// memory.
TEST(DirectMessages, memoryNeedNotBeRegistered) {
  for (uint64_t k = 1; k <= 6; ++k) {
    FakeDevice::reset({.seed = k});
    NetworkWorld world(3, {.seed = k, .failRegistrationAt = k});
    EXPECT_EQ(allgather(world, 3, 7), "");
    EXPECT_GT(world.network.bytesIntoDevice(), 0u);
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
  for (const char *call :
       {"cuPointerSetAttribute", "cuMemGetHandleForAddressRange", "cuDeviceGetAttribute"})
    for (uint64_t k = 1; k <= 9; ++k) {
      FakeDevice::reset({.seed = k, .failCall = call, .failCallAt = k});
      NetworkWorld world(3, {.seed = k});
      EXPECT_EQ(allgather(world, 3, 7), "") << call << " " << k;
    }
}

TEST(DirectMessages, writesAreFlushedIfTheDeviceDoesNotOrderThem) {
  FakeDevice::reset({.ordersRemoteWrites = false});
  NetworkWorld world(3, {});
  EXPECT_EQ(allgather(world, 3, 7), "");
  EXPECT_EQ(FakeDevice::flushes(), 2u * 3 * 2); // one per message that came
  EXPECT_EQ(FakeDevice::bytesToHost() + FakeDevice::bytesToDevice(), 0u);
}

TEST(DirectMessages, whatCannotBeFlushedComesToTheHost) {
  FakeDevice::reset({.ordersRemoteWrites = false, .flushesRemoteWrites = false});
  NetworkWorld world(3, {});
  EXPECT_EQ(allgather(world, 3, 7), "");
  EXPECT_EQ(world.network.bytesIntoDevice(), 0u);
  EXPECT_GT(world.network.bytesFromDevice(), 0u);
}

TEST(DirectMessages, aFlushThatFailsEndsTheRun) {
  FakeDevice::reset(
      {.failCall = "cuFlushGPUDirectRDMAWrites", .failCallAt = 2, .ordersRemoteWrites = false});
  NetworkWorld world(3, {});
  EXPECT_NE(allgather(world, 3, 7).find("cuFlushGPUDirectRDMAWrites failed"), std::string::npos);
}

// Any write of a run may fail.
TEST(DirectMessages, aWriteThatFailsEndsTheRun) {
  for (uint64_t k = 1; k <= 6; ++k) {
    FakeDevice::reset({.seed = k});
    NetworkWorld world(3, {.seed = k, .failTransferAt = k}, {50ms, 50ms, 50ms});
    EXPECT_NE(allgather(world, 3, 7).find("the network failed"), std::string::npos) << k;
    EXPECT_EQ(world.network.registeredDevices(), 0u);
    EXPECT_EQ(FakeDevice::misuse(), "");
    EXPECT_EQ(FakeDevice::left(), 0u);
  }
}

/// Rank 0 sends a block to rank 1, which receives it in `pieces` pieces.
Schedule oneMessage(uint32_t pieces) {
  Builder builder(2);
  BufferId x = builder.buffer(BufferRole::In, pieces),
           y = builder.buffer(BufferRole::Out, 2 * pieces);
  std::vector<Slice> targets;
  for (uint32_t i = 0; i < pieces; ++i)
    targets.push_back(builder.block(y, 2 * i));
  builder.send(Rank{0}, Rank{1}, {builder.blocks(x, 0, pieces)});
  builder.recv(Rank{1}, Rank{0}, targets);
  return std::move(builder.schedule);
}

/// Runs it, with the receiver's buffer in device memory or not. Empty: it had the right data.
std::string runOneMessage(NetworkWorld &world, uint32_t pieces, bool isOnDevice, int runs) {
  LoadedImage image(oneMessage(pieces));
  return runThreads(2, [&](Rank r) -> std::string {
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    Buffer x(pieces * kElements, true), y(2 * pieces * kElements, isOnDevice);
    auto plan =
        Plan::open(engine, image->rank(r), image->sizeClass(), bindingOf({x.bound(), y.bound()}));
    if (!plan)
      return plan.message();
    for (int k = 0; k < runs; ++k) {
      for (size_t i = 0; i < x.values().size(); ++i)
        x[i] = valueAt(k, 0, i);
      std::fill(y.values().begin(), y.values().end(), -1);
      if (std::string s = run(**plan); !s.empty())
        return s;
      for (size_t i = 0; i < y.values().size() && r == Rank{1}; ++i) {
        size_t block = i / kElements;
        int32_t wanted = block % 2 == 0 ? valueAt(k, 0, block / 2 * kElements + i % kElements) : -1;
        if (y[i] != wanted)
          return "wrong data";
      }
    }
    return "";
  });
}

TEST(DirectMessages, severalPiecesAreOneWrite) {
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  EXPECT_EQ(runOneMessage(world, 3, true, 2), "");
  EXPECT_EQ(world.network.bytesIntoDevice(), 2 * 3 * kBlockBytes);
  EXPECT_EQ(FakeDevice::bytesToHost() + FakeDevice::bytesToDevice(), 0u);
}

// The receiver cannot name its pieces to the network, so the sender's bytes come to its host.
TEST(DirectMessages, aSendWhoseReceiverWantsFragmentsGoesByTheStage) {
  for (bool isOnDevice : {false, true}) {
    FakeDevice::reset({});
    NetworkWorld world(2, {});
    EXPECT_EQ(runOneMessage(world, 6, isOnDevice, 3), "");
    EXPECT_EQ(FakeDevice::bytesToHost(), 3 * 6 * kBlockBytes);
    EXPECT_EQ(FakeDevice::bytesToDevice(), isOnDevice ? 3 * 6 * kBlockBytes : 0);
    EXPECT_EQ(world.network.bytesFromDevice() + world.network.bytesIntoDevice(), 0u);
    EXPECT_EQ(FakeDevice::misuse(), "");
  }
}

// The host has the bytes without a copy then.
TEST(DirectMessages, whatTheHostAloneReadsComesToTheHost) {
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  Builder builder(2);
  BufferId x = builder.buffer(BufferRole::In, 1), y = builder.buffer(BufferRole::Out, 1),
           t = builder.buffer(BufferRole::Temp, 1);
  builder.send(Rank{0}, Rank{1}, {builder.block(x, 0)});
  OpId received = builder.recv(Rank{1}, Rank{0}, {builder.block(t, 0)});
  builder.copy(Rank{1}, {builder.block(t, 0)}, {builder.block(y, 0)}, {after(received)});
  LoadedImage image(builder.schedule);
  EXPECT_EQ(runThreads(2,
                       [&](Rank r) -> std::string {
                         auto endpoint = world.attach(r);
                         Engine engine(*endpoint);
                         Buffer from(kElements, true), to(kElements, false);
                         for (size_t i = 0; i < kElements; ++i)
                           from[i] = valueAt(0, 0, i);
                         auto plan = Plan::open(engine, image->rank(r), image->sizeClass(),
                                                bindingOf({from.bound(), to.bound()}));
                         std::string s = plan ? run(**plan) : plan.message();
                         bool isRight =
                             r == Rank{0} || std::equal(to.values().begin(), to.values().end(),
                                                        from.values().begin());
                         return s.empty() && !isRight ? "wrong data" : s;
                       }),
            "");
  EXPECT_EQ(world.network.bytesFromDevice(), kBlockBytes);
  EXPECT_EQ(world.network.bytesIntoDevice(), 0u);
  EXPECT_EQ(FakeDevice::bytesToHost() + FakeDevice::bytesToDevice(), 0u);
}

/// Runs the schedule on one rank of two. Both run it with `onDevice`, then with `onHost`.
std::string runOnDeviceAndHost(Plan &plan, Rank rank, const std::array<Buffer, 2> &onDevice,
                               const std::array<Buffer, 2> &onHost) {
  for (int k = 0; k < 4; ++k) {
    const auto &[x, y] = k % 2 == 0 ? onDevice : onHost;
    for (size_t i = 0; i < kElements; ++i)
      x[i] = valueAt(k, index(rank), i);
    if (Status s = plan.bind(bindingOf({x.bound(), y.bound()})); !s)
      return s.message();
    if (std::string s = run(plan); !s.empty())
      return s;
    for (size_t i = 0; i < kElements && rank == Rank{1}; ++i)
      if (y[i] != valueAt(k, 0, i) + valueAt(k, 1, i))
        return "wrong data";
  }
  return "";
}

// The state of its messages on the device ends with a binding.
TEST(DirectMessages, aPlanMayBeBoundToTheHostLater) {
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  LoadedImage image(reduceChain(2, Reduction::Sum));
  EXPECT_EQ(
      runThreads(2,
                 [&](Rank r) -> std::string {
                   auto endpoint = world.attach(r);
                   Engine engine(*endpoint);
                   std::array onDevice{Buffer(kElements, true), Buffer(kElements, true)};
                   std::array onHost{Buffer(kElements, false), Buffer(kElements, false)};
                   auto plan = Plan::open(engine, image->rank(r), image->sizeClass(),
                                          bindingOf({onDevice[0].bound(), onDevice[1].bound()}));
                   return plan ? runOnDeviceAndHost(**plan, r, onDevice, onHost) : plan.message();
                 }),
      "");
  EXPECT_EQ(world.network.bytesIntoDevice(), 2 * kBlockBytes);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

class IgnoredTarget : public CombiningTarget {
  void combine(uint64_t, const std::byte *, uint64_t) override {}
};

// A message of the next run comes to the host: its receive names no device memory.
TEST(DirectMessages, aReceiveIsOnTheDeviceInOneRun) {
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  EXPECT_EQ(runThreads(2,
                       [&](Rank r) -> std::string {
                         auto endpoint = world.attach(r);
                         Buffer onDevice(kElements, true), onHost(kElements, false);
                         DeviceAreas areas;
                         Binding binding = bindingOf({onDevice.bound()});
                         if (Status s = areas.bind(binding); !s)
                           return s.message();
                         auto *registered = areas.registerArea(*endpoint, areas.areas().front());
                         std::vector<MessageId> messages{makeMessageId(0, 0)};
                         std::vector<EdgeSpec> edge{{Rank{1 - index(r)}, messages, {}}};
                         auto channels = endpoint->open({edge, edge});
                         if (!channels || !registered)
                           return "no channels or no registration";
                         iovec there{onDevice.values().data(), kBlockBytes};
                         iovec here{onHost.values().data(), kBlockBytes};
                         Payload payload{&here, 1, true, false, kBlockBytes};
                         DevicePayload device{&there, registered};
                         IgnoredTarget target;
                         for (int k = 0; k < 2; ++k) {
                           (*channels)->start();
                           Posted posted =
                               r == Rank{0} ? (*channels)->send({0, 0}, OpId{0}, payload)
                               : k == 0
                                   ? (*channels)->recvIntoDevice({0, 0}, OpId{0}, payload, device)
                                   : (*channels)->recvCombining({0, 0}, OpId{0}, payload, target);
                           EXPECT_TRUE(r == Rank{0} || posted == Posted::Pending);
                           while (posted == Posted::Pending && (*channels)->poll().empty())
                             std::this_thread::yield();
                           EXPECT_EQ(device.isUsed, r == Rank{1} && k == 0);
                           device.isUsed = false;
                         }
                         return "";
                       }),
            "");
  EXPECT_EQ(world.network.bytesIntoDevice(), kBlockBytes);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

// A leader forwards what came to ranks of its machine, from its host.
TEST(DirectMessages, whatGoesOnByTheHostComesThere) {
  constexpr uint32_t kRanks = 3;
  FakeDevice::reset({});
  NetworkWorld remote(kRanks, {});
  fake::World local(kRanks, {});
  Builder builder(kRanks);
  BufferId x = builder.buffer(BufferRole::InOut, 1);
  builder.send(Rank{0}, Rank{1}, {builder.block(x, 0)});
  OpId came = builder.recv(Rank{1}, Rank{0}, {builder.block(x, 0)});
  builder.send(Rank{1}, Rank{2}, {builder.block(x, 0)}, {after(came)});
  builder.recv(Rank{2}, Rank{1}, {builder.block(x, 0)});
  LoadedImage image(builder.schedule);
  EXPECT_EQ(runThreads(kRanks,
                       [&](Rank r) -> std::string {
                         auto here = local.attach(r), there = remote.attach(r);
                         std::vector<bool> isRemote;
                         for (uint32_t peer = 0; peer < kRanks; ++peer)
                           isRemote.push_back((peer == 0) != (r == Rank{0}));
                         protocol::HybridEndpoint endpoint(*here, *there, isRemote);
                         Engine engine(endpoint);
                         Buffer buffer(kElements, true);
                         for (size_t i = 0; i < kElements; ++i)
                           buffer[i] = valueAt(0, index(r), i);
                         auto plan = Plan::open(engine, image->rank(r), image->sizeClass(),
                                                bindingOf({buffer.bound()}));
                         if (!plan)
                           return plan.message();
                         std::string s = run(**plan);
                         for (size_t i = 0; i < kElements && s.empty(); ++i)
                           if (buffer[i] != valueAt(0, 0, i))
                             s = "wrong data";
                         return s;
                       }),
            "");
  EXPECT_EQ(FakeDevice::bytesToHost(), 0u);
  EXPECT_EQ(FakeDevice::bytesToDevice(), 2 * kBlockBytes);
  EXPECT_EQ(remote.network.bytesIntoDevice(), 0u);
  EXPECT_EQ(remote.network.bytesFromDevice(), kBlockBytes);
}

// Messages within a machine go by handles of memory.
TEST(DirectMessages, machinesOfTwoRanksLeaveTheHostAlone) {
  constexpr uint32_t kRanks = 4;
  FakeDevice::reset({});
  NetworkWorld remote(kRanks, {});
  fake::World local(kRanks, {});
  LoadedImage image(ringAllgather(kRanks));
  EXPECT_EQ(runThreads(kRanks,
                       [&](Rank r) -> std::string {
                         auto here = local.attach(r), there = remote.attach(r);
                         std::vector<bool> isRemote;
                         for (uint32_t peer = 0; peer < kRanks; ++peer)
                           isRemote.push_back(peer / 2 != index(r) / 2);
                         protocol::HybridEndpoint endpoint(*here, *there, isRemote);
                         Engine engine(endpoint);
                         Buffer x(kElements, true), y(kElements * kRanks, true);
                         Binding binding = bindingOf({x.bound(), y.bound()});
                         binding.deviceOnly = true;
                         binding.deviceMessagesFrom = 1;
                         auto plan =
                             Plan::open(engine, image->rank(r), image->sizeClass(), binding);
                         return plan ? allgatherOnce(**plan, r, kRanks, 0, x, y) : plan.message();
                       }),
            "");
  EXPECT_EQ(FakeDevice::bytesToHost() + FakeDevice::bytesToDevice(), 0u);
  EXPECT_EQ(remote.network.bytesIntoDevice(), 2 * 3 * kBlockBytes);
}

// The receiver starts once the sender has made progress for long, alone.
TEST(DirectMessages, aSendWhoseReceiverWantedFragmentsIsStagedBeforeTheNext) {
  constexpr uint32_t kPieces = 6;
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  LoadedImage image(oneMessage(kPieces));
  std::atomic<int> mayStart = 0;
  std::vector<uint64_t> staged;
  runThreads(2, [&](Rank r) -> std::string {
    auto endpoint = world.attach(r);
    Engine engine(*endpoint);
    Buffer x(kPieces * kElements, true), y(2 * kPieces * kElements, false);
    auto plan =
        Plan::open(engine, image->rank(r), image->sizeClass(), bindingOf({x.bound(), y.bound()}));
    for (int k = 1; k <= 2; ++k) {
      while (r == Rank{1} && mayStart < k)
        std::this_thread::yield();
      EXPECT_TRUE((*plan)->start().ok());
      for (int poll = 0; poll < 1000 && r == Rank{0}; ++poll)
        (*plan)->progress();
      if (r == Rank{0}) {
        staged.push_back(FakeDevice::bytesToHost());
        mayStart = k;
      }
      EXPECT_TRUE((*plan)->wait(kLong).ok());
    }
    return "";
  });
  EXPECT_EQ(staged, (std::vector<uint64_t>{0, 2 * kPieces * kBlockBytes}));
}

TEST(DirectMessages, aHeldSendThatCannotBeCopiedEndsTheRun) {
  for (uint64_t k : {1, 5}) {
    FakeDevice::reset({.failCopyAt = k});
    NetworkWorld world(2, {}, {50ms, 50ms});
    std::string result = runOneMessage(world, 6, false, 1);
    EXPECT_NE(result.find("the copy of bytes "), std::string::npos) << result;
    EXPECT_NE(result.find("op 0 (send to rank 1)"), std::string::npos) << result;
    EXPECT_EQ(world.network.registeredDevices(), 0u);
  }
}

/// One rank of a broadcast between two, whose plan lives as long as this.
class Broadcaster {
public:
  Broadcaster(NetworkWorld &world, const LoadedImage &image, Rank rank)
      : endpoint_(world.attach(rank)), engine_(*endpoint_), image_(image) {}
  std::unique_ptr<Plan> open(const Buffer &buffer) {
    return Plan::open(engine_, image_->rank(endpoint_->rank()), image_->sizeClass(),
                      bindingOf({buffer.bound()}))
        .take();
  }

private:
  std::unique_ptr<Endpoint> endpoint_;
  Engine engine_;
  const LoadedImage &image_;
};

/// Two ranks whose plan fails, and waits until nothing is registered.
void expectNothingRegistered(NetworkWorld &world, std::chrono::nanoseconds timeout) {
  LoadedImage image(flatBroadcast(2));
  runThreads(2, [&](Rank r) -> std::string {
    Broadcaster rank(world, image, r);
    Buffer x(kElements, true);
    auto plan = rank.open(x);
    std::string result; // a sender learns later that its receiver has failed
    for (int k = 0; k < 1000 && result.empty(); ++k)
      result = run(*plan, timeout);
    EXPECT_NE(result, "");
    auto until = std::chrono::steady_clock::now() + 10s;
    while (world.network.registeredDevices() > 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    EXPECT_EQ(world.network.registeredDevices(), 0u);
    return "";
  });
}

TEST(DirectMessages, aPlanThatFailedLeavesNothingRegistered) {
  FakeDevice::reset({});
  NetworkWorld stalling(2, {.stallsTransfers = true}, {50ms, 50ms});
  expectNothingRegistered(stalling, 100ms);
  FakeDevice::reset(
      {.failCall = "cuFlushGPUDirectRDMAWrites", .failCallAt = 1, .ordersRemoteWrites = false});
  NetworkWorld failing(2, {});
  expectNothingRegistered(failing, kLong);
}

TEST(DirectMessages, aPlanMayBeDestroyedWhileItRuns) {
  FakeDevice::reset({});
  NetworkWorld world(2, {.stallsTransfers = true}, {50ms, 50ms});
  LoadedImage image(flatBroadcast(2));
  runThreads(2, [&](Rank r) -> std::string {
    Broadcaster rank(world, image, r);
    Buffer x(kElements, true);
    auto plan = rank.open(x);
    Status started = plan->start(); // an error if the other rank has destroyed its plan by now
    EXPECT_EQ(started.ok(), !plan->failed());
    plan->waitFor(20ms);
    EXPECT_TRUE(plan->running() || plan->failed());
    plan.reset();
    EXPECT_EQ(x[0], x[1]);
    return "";
  });
  EXPECT_EQ(world.network.registeredDevices(), 0u);
  EXPECT_EQ(world.network.carryOutStalled(), 0u);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

// The sender still waits for its write when the receiver has its memory back, of which another plan
// keeps the registration.
TEST(DirectMessages, aLateWriteDoesNotReachTheMemoryOfAPlanThatFailed) {
  FakeDevice::reset({});
  NetworkWorld world(2, {.stallsTransfers = true}, {1s, 50ms});
  LoadedImage image(flatBroadcast(2));
  runThreads(2, [&](Rank r) -> std::string {
    Broadcaster rank(world, image, r);
    Buffer x(kElements, true);
    auto plan = rank.open(x), other = rank.open(x);
    std::fill(x.values().begin(), x.values().end(), static_cast<int32_t>(index(r)));
    EXPECT_NE(run(*plan, r == Rank{1} ? 100ms : 10s), "");
    if (r == Rank{1}) {
      EXPECT_EQ(world.network.carryOutStalled(), 0u);
      EXPECT_EQ(x[0], 1);
    }
    return "";
  });
}

TEST(DirectMessages, plansShareTheRegistrationOfAnAllocation) {
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  LoadedImage image(flatBroadcast(2));
  runThreads(2, [&](Rank r) -> std::string {
    Broadcaster rank(world, image, r);
    Buffer x(kElements, true);
    auto one = rank.open(x), other = rank.open(x);
    EXPECT_EQ(run(*one), "");
    EXPECT_EQ(run(*other), "");
    for (int k = 0; k < 3; ++k)
      EXPECT_TRUE(one->bind(bindingOf({x.bound()})).ok());
    EXPECT_EQ(run(*one), "");
    one.reset();
    EXPECT_EQ(run(*other), "");
    return "";
  });
  EXPECT_EQ(world.network.deviceRegistrations(), 2u);                    // one per rank
  EXPECT_EQ(FakeDevice::calls("cuMemGetHandleForAddressRange"), 2u * 2); // one per plan
  EXPECT_EQ(world.network.registeredDevices(), 0u);
}

// The driver gives out the addresses of freed memory again.
TEST(DirectMessages, anAllocationAtTheAddressOfAFreedOneIsAnother) {
  FakeDevice::reset({});
  NetworkWorld world(2, {});
  LoadedImage image(flatBroadcast(2));
  runThreads(2, [&](Rank r) -> std::string {
    Broadcaster rank(world, image, r);
    device::CurrentContext current(FakeDevice::driver(), FakeDevice::context(0));
    auto allocate = [] {
      device::DeviceAddress made = 0;
      FakeDevice::driver().memAlloc(&made, kBlockBytes);
      return made;
    };
    auto bound = [](device::DeviceAddress memory) {
      return bindingOf(
          {{reinterpret_cast<void *>(memory), kBlockBytes, false, &FakeDevice::driver()}});
    };
    device::DeviceAddress first = allocate();
    Buffer other(kElements, true);
    auto plan = rank.open(other);
    for (int k = 0; k < 2; ++k) {
      EXPECT_TRUE(plan->bind(bound(first)).ok());
      EXPECT_EQ(run(*plan), "");
      FakeDevice::driver().memFree(first);
      first = allocate();
    }
    FakeDevice::driver().memFree(first);
    return "";
  });
  EXPECT_EQ(world.network.deviceRegistrations(), 2u * 3);
  EXPECT_EQ(FakeDevice::misuse(), "");
}

} // namespace
} // namespace colldsl::test
