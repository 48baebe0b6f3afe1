// The collectives of the standard library with buffers in device memory give what they give with
// buffers of the host.
#include "executor/Plan.h"
#include "ir/Bounds.h"
#include "ir/Concat.h"
#include "tests/device/FakeDevice.h"
#include "tests/device/LibrarySchedules.h"
#include "tests/device/NetworkWorld.h"
#include "tests/executor/Schedules.h"
#include "tests/transports/Harness.h"

#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <random>

namespace colldsl::test {
namespace {

using Bytes = std::vector<std::byte>;
constexpr uint64_t kElements = 12;
constexpr int kRuns = 2;

/// The buffers of one rank after each run.
using RankResult = std::vector<std::vector<Bytes>>;
using Results = std::vector<RankResult>;

/// Small numbers, so that products stay apart from overflow.
void fill(Bytes &bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i + sizeof(int32_t) <= bytes.size(); i += sizeof(int32_t)) {
    auto value = static_cast<int32_t>(random() % 7) + 1;
    std::memcpy(&bytes[i], &value, sizeof value);
  }
}

struct RunSizes {
  uint64_t elements = kElements;
  uint64_t segmentBytes = 20; ///< ends within blocks
  bool mayBeDeviceOnly = true;
  std::optional<uint64_t> deviceCombinesFrom = {}; ///< none: by the seed
};

using Attach = std::function<std::unique_ptr<Endpoint>(Rank)>;

class Runs {
public:
  /// Buffer b of a rank is in device memory if bit b of `onDevice` is set. All are: messages go
  /// from device to device.
  Runs(const Schedule &schedule, uint64_t seed, uint64_t onDevice, Attach attach,
       const RunSizes &sizes = {})
      : schedule_(schedule), image_(schedule), attach_(std::move(attach)), seed_(seed),
        onDevice_(onDevice), sizes_(sizes), results_(schedule.numRanks()) {}

  std::string run() {
    return runThreads(schedule_.numRanks(), [&](Rank r) { return runRank(r); });
  }
  const Results &results() const { return results_; }

private:
  std::string runRank(Rank r) {
    auto endpoint = attach_(r);
    Engine engine(*endpoint);
    RankView view = image_->rank(r);
    Binding binding;
    binding.elements = sizes_.elements;
    binding.segmentBytes = sizes_.segmentBytes;
    binding.deviceCombinesFrom = sizes_.deviceCombinesFrom.value_or(seed_ % 2 * 64);
    binding.deviceOnly = onDevice_ == UINT64_MAX && sizes_.mayBeDeviceOnly && seed_ % 5 != 0;
    binding.deviceMessagesFrom = seed_ % 4 * 16;
    std::vector<Bytes> host;
    std::vector<std::span<std::byte>> memory;
    Sizes sizes{sizes_.elements, {}, 0};
    for (uint32_t b = 0; b < view.buffers.size() && view.buffers[b].role != BufferRole::Temp; ++b) {
      const Buffer &buffer = view.buffers[b];
      bool isBound = buffer.significant && buffer.aliasOf == kNoBuffer;
      uint64_t bytes = isBound ? extentBytes(buffer, sizes) : 0;
      bool isDevice = bytes > 0 && (onDevice_ >> b & 1);
      host.emplace_back(isDevice ? 0 : bytes);
      auto *device = isDevice ? static_cast<std::byte *>(FakeDevice::allocate(bytes)) : nullptr;
      memory.emplace_back(isDevice ? std::span(device, bytes) : std::span(host.back()));
      binding.buffers.push_back(
          {memory.back().data(), bytes, false, isDevice ? &FakeDevice::driver() : nullptr});
    }
    auto plan = Plan::open(engine, view, image_->sizeClass(), binding);
    if (!plan)
      return plan.message();
    for (int run = 0; run < kRuns; ++run) {
      for (uint32_t b = 0; b < memory.size(); ++b) {
        Bytes start(memory[b].size());
        fill(start, (run * 100 + b) * 1000 + index(r));
        std::copy(start.begin(), start.end(), memory[b].begin());
      }
      Status s = (*plan)->start();
      if (s)
        s = (*plan)->wait(std::chrono::seconds(60));
      if (!s)
        return s.message();
      results_[index(r)].emplace_back();
      for (auto bytes : memory)
        results_[index(r)].back().emplace_back(bytes.begin(), bytes.end());
    }
    return "";
  }

  const Schedule &schedule_;
  LoadedImage image_;
  Attach attach_;
  uint64_t seed_, onDevice_;
  RunSizes sizes_;
  Results results_;
};

/// Empty, or how a run with these buffers in device memory differs from one without.
std::string difference(const Schedule &schedule, uint64_t seed, uint64_t onDevice,
                       const Attach &attach) {
  Runs there(schedule, seed, onDevice, attach);
  fake::World world(schedule.numRanks(), {.seed = seed});
  Runs here(schedule, seed, 0, [&](Rank r) { return world.attach(r); });
  std::string complaints = there.run() + here.run();
  if (!complaints.empty())
    return complaints;
  if (!FakeDevice::misuse().empty())
    return FakeDevice::misuse();
  for (size_t r = 0; r < here.results().size(); ++r)
    for (size_t run = 0; run < here.results()[r].size(); ++run)
      for (size_t b = 0; b < here.results()[r][run].size(); ++b) {
        const Bytes &got = there.results()[r][run][b], &wanted = here.results()[r][run][b];
        if (got != wanted)
          return concat("rank ", r, ", run ", run, ", buffer ", b, ": byte ",
                        std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin(),
                        " of ", got.size());
      }
  return "";
}

/// Between ranks of one machine.
std::string difference(const Schedule &schedule, uint64_t seed, uint64_t onDevice) {
  FakeDevice::reset({.seed = seed});
  fake::World world(schedule.numRanks(), {.seed = seed});
  return difference(schedule, seed, onDevice, [&](Rank r) { return world.attach(r); });
}

class DeviceCollectives : public testing::Test {
protected:
  /// Calls difference(schedule, seed) for all collectives, of several numbers of ranks.
  template <typename Difference> void compareAll(Difference difference) {
    const Program &program = library_.program();
    uint64_t seed = 0, collectives = 0;
    for (uint32_t d = 0; d < program.decls.size(); ++d) {
      const Decl &decl = program.decls[d];
      if (decl.kind != DeclKind::Collective)
        continue;
      bool isRun = false;
      for (uint32_t ranks : {2, 3, 4})
        for (bool inPlace : {false, true}) {
          auto made = library_.make(DeclId{d}, ranks, kElements, inPlace);
          if (!made)
            continue;
          isRun = true;
          EXPECT_EQ(difference(*made, ++seed), "") << program.nameOf(decl) << " of " << ranks
                                                   << " ranks" << (inPlace ? " in place" : "");
        }
      collectives += isRun;
    }
    RecordProperty("collectives", static_cast<int>(collectives));
    EXPECT_GE(collectives, 60u);
  }

  LibrarySchedules library_;
};

TEST_F(DeviceCollectives, giveWhatTheyGiveOnTheHost) {
  compareAll([](const Schedule &schedule, uint64_t seed) {
    return difference(schedule, seed, seed % 3 == 0 ? 2 : UINT64_MAX);
  });
}

// Each rank is a machine, whose network device reaches the device memory. Some devices do not order
// what it writes; now and then some memory cannot be registered.
TEST_F(DeviceCollectives, giveTheSameOverANetworkThatReachesDevices) {
  uint64_t direct = 0;
  compareAll([&](const Schedule &schedule, uint64_t seed) {
    FakeDevice::reset({.seed = seed, .ordersRemoteWrites = seed % 2 == 0});
    NetworkWorld world(schedule.numRanks(), {.seed = seed, .failRegistrationAt = seed % 5});
    std::string result = difference(schedule, seed, seed % 3 == 0 ? 2 : UINT64_MAX,
                                    [&](Rank r) { return world.attach(r); });
    direct += world.network.bytesIntoDevice();
    if (result.empty() && world.network.registeredDevices() > 0)
      return std::string("memory is still registered");
    return result;
  });
  EXPECT_GT(direct, 100u << 10);
}

TEST_F(DeviceCollectives, giveTheSameInAHundredOrders) {
  const Program &program = library_.program();
  for (const char *name : {"allreduce_ring", "allgather_bruck", "bcast_binomial",
                           "reduce_scatter_ring", "alltoall_rotated"}) {
    DeclId id = program.find(name, DeclKind::Collective);
    ASSERT_NE(id, kNoDecl) << name;
    auto made = library_.make(id, 4, kElements, false);
    ASSERT_TRUE(made) << name;
    for (uint64_t seed = 1; seed <= 100; ++seed)
      ASSERT_EQ(difference(*made, seed, UINT64_MAX), "") << name << ", seed " << seed;
  }
}

// Each rank sends all blocks but its own and receives into one.
TEST_F(DeviceCollectives, shortNeighborsThatAreReadyTogetherAreOneCopy) {
  constexpr uint32_t kRanks = 8;
  DeclId id = library_.program().find("reduce_scatter_block_pairwise", DeclKind::Collective);
  ASSERT_NE(id, kNoDecl);
  auto copies = [&](uint64_t blockBytes) {
    RunSizes sizes{blockBytes / sizeof(int32_t), 512 << 10, false, UINT64_MAX}; // on the host
    auto made = library_.make(id, kRanks, sizes.elements, false);
    FakeDevice::reset({.seed = 1});
    fake::World world(kRanks, {});
    Runs runs(
        *made, 1, UINT64_MAX, [&](Rank r) { return world.attach(r); }, sizes);
    EXPECT_EQ(runs.run(), "");
    return FakeDevice::copies();
  };
  EXPECT_LE(copies(8 << 10), 3 * kRanks * kRuns) << "two parts of x, and y";
  EXPECT_EQ(copies(64 << 10), (kRanks + 1) * kRanks * kRuns) << "for each message its own";
}

} // namespace
} // namespace colldsl::test
