// The kernels that the library has for devices, run by the interpreter: their results are those of
// the host's functions.
#include "device/Kernels.h"
#include "device/KernelText.h"
#include "executor/Reduce.h"
#include "ir/Concat.h"
#include "tests/device/FakeDevice.h"
#include "tests/device/KernelCases.h"
#include "tests/device/PtxInterpreter.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace colldsl::test {
namespace {

using device::DeviceAddress;
using device::Kernels;

class KernelsTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (device::kernelText().empty())
      GTEST_SKIP() << "the library was built without clang 19, so it has no kernels";
    FakeDevice::reset({});
  }
};

/// A stream of the fake device, and memory there.
class FakeKernelDevice : public KernelDevice {
public:
  FakeKernelDevice() {
    const device::CudaDriver &driver = FakeDevice::driver();
    context_ = device::contextOf(driver, FakeDevice::allocate(1), 1).take();
    kernels_ = Kernels::of(driver, context_);
    device::CurrentContext current(driver, context_);
    driver.streamCreate(&stream_, device::kStreamNonBlocking);
    driver.eventCreate(&event_, device::kEventWithoutTiming);
  }
  ~FakeKernelDevice() override {
    FakeDevice::driver().eventDestroy(event_);
    FakeDevice::driver().streamDestroy(stream_);
  }
  device::CuContext context() const { return context_; }
  Kernels &kernels() override { return *kernels_; }
  void release() { kernels_.reset(); }
  device::CuStream stream() override { return stream_; }

  DeviceAddress memory(size_t number, uint64_t bytes) override {
    memory_.resize(std::max(memory_.size(), number + 1));
    auto &[begin, size] = memory_[number];
    if (size < bytes) {
      begin = reinterpret_cast<DeviceAddress>(FakeDevice::allocate(bytes + 16));
      size = bytes;
    }
    return (begin + 15) / 16 * 16;
  }
  Status write(DeviceAddress to, std::span<const std::byte> bytes) override {
    Status s = finish();
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte *>(to));
    return s;
  }
  Status read(DeviceAddress from, std::span<std::byte> bytes) override {
    Status s = finish();
    std::copy_n(reinterpret_cast<const std::byte *>(from), bytes.size(), bytes.begin());
    return s;
  }
  /// Waits for the stream.
  Status finish() {
    const device::CudaDriver &driver = FakeDevice::driver();
    device::CurrentContext current(driver, context_);
    driver.eventRecord(event_, stream_);
    device::CuResult result = device::kCudaNotReady;
    for (int poll = 0; poll < 1000 && result == device::kCudaNotReady; ++poll)
      result = driver.eventQuery(event_);
    if (Status s = device::checkCuda(driver, result, "cuEventQuery"); !s)
      return Status::error(concat(s.message(), ": ", FakeDevice::misuse()));
    return {};
  }

private:
  device::CuContext context_;
  std::shared_ptr<Kernels> kernels_;
  device::CuStream stream_ = nullptr;
  device::CuEvent event_ = nullptr;
  std::vector<std::pair<DeviceAddress, uint64_t>> memory_;
};

TEST_F(KernelsTest, combineAsTheHostDoes) {
  FakeKernelDevice on;
  std::mt19937_64 random(1);
  for (const CombineCase &c : combineCases(1))
    ASSERT_EQ(compareWithHost(c, on, random), "") << c.describe() << "; " << FakeDevice::misuse();
  EXPECT_EQ(FakeDevice::misuse(), "");
}

TEST_F(KernelsTest, smallFloatsAreRoundedAsTheHostRounds) {
  FakeKernelDevice on;
  std::mt19937_64 random(2);
  for (auto [reduction, type] : allDefined())
    if (arithmetic(type) == Arithmetic::SmallReal) {
      auto pairs = smallPairs(type, random);
      CombineCase c{reduction, type, Side::After, pairs[0].size() / sizeBytes(type)};
      ASSERT_EQ(compareWithHost(c, on, random, &pairs), "") << c.describe();
    }
}

constexpr std::byte kUntouched{0x5c};

/// Memory of the host at the addresses of a kernel, wherever these are; notes the accesses.
struct NotedMemory : PtxMemory {
  std::byte *find(uint64_t address, uint64_t bytes, bool isStore) override {
    accesses.push_back({address, bytes, isStore});
    return scratch;
  }
  struct Access {
    uint64_t address, bytes;
    bool isStore;
  };
  std::vector<Access> accesses;
  std::byte scratch[16] = {};
};

struct HostMemory : PtxMemory {
  std::byte *find(uint64_t address, uint64_t, bool) override {
    return reinterpret_cast<std::byte *>(address);
  }
};

template <typename T> std::span<const std::byte> bytesOfValue(const T &value) {
  return std::as_bytes(std::span(&value, 1));
}

std::string nameOf(Reduction reduction, ElementType type) {
  return concat("_ZN7colldsl6device7combineILj", unsigned(reduction), "ELj", unsigned(type),
                "EEEvNS0_15CombineOperandsE");
}
constexpr const char *kCopyName = "_ZN7colldsl6device10copyPiecesENS0_12CopyOperandsE";

// Each thread goes through the range in steps of the grid, here of one block.
TEST_F(KernelsTest, aSmallGridCombinesALongRange) {
  auto module = PtxModule::parse(device::kernelText());
  ASSERT_TRUE(module.ok()) << module.message();
  std::mt19937_64 random(3);
  HostMemory memory;
  for (auto [reduction, type] : allDefined()) {
    if (device::kernelType(reduction, type) != type)
      continue;
    const uint64_t size = sizeBytes(type), perVector = 16 / size, vectors = 600,
                   head = perVector - 1;
    const uint64_t elements = head + vectors * perVector + 600;
    std::vector<std::byte> own = anyElements(type, elements + 32, random),
                           incoming = anyElements(type, elements + 32, random);
    std::vector<std::byte> expected(own.size()), result(own.size(), kUntouched);
    // The first vector begins at a border.
    auto begin = [&](std::vector<std::byte> &bytes) {
      return bytes.data() + -(reinterpret_cast<uint64_t>(bytes.data()) + head * size) % 16;
    };
    auto address = [&](std::vector<std::byte> &bytes) {
      return reinterpret_cast<uint64_t>(begin(bytes));
    };
    device::CombineOperands operands{
        address(result), address(own), {address(incoming)}, elements, head, vectors, 1,
        false,           true};
    Status s = module->functions()
                   .at(nameOf(reduction, type))
                   .run({1, 1, 256}, bytesOfValue(operands), memory);
    ASSERT_TRUE(s.ok()) << s.message();
    (*findReduction(reduction, type, Side::After))(expected.data(), begin(own), begin(incoming),
                                                   elements * size);
    EXPECT_EQ(findDifference(reduction, type, begin(result), expected.data(), elements), -1)
        << spelling(reduction) << " of " << spelling(type);
    EXPECT_EQ(begin(result)[elements * size], kUntouched);
  }
}

// Positions have 64 bits: the last block of a grid of 2^31 - 1, behind which there is more.
TEST_F(KernelsTest, rangesAreLongerThan32Bits) {
  auto module = PtxModule::parse(device::kernelText());
  ASSERT_TRUE(module.ok()) << module.message();
  constexpr uint32_t blocks = 0x7fffffff;
  constexpr uint64_t vectors = (uint64_t{blocks} + 1) * 256, at = (uint64_t{blocks} - 1) * 256 * 16;
  device::CombineOperands operands{1 << 20, 2 << 20, {3 << 20}, vectors * 4, 0,
                                   vectors, 1,       false,     true};
  NotedMemory memory;
  const PtxFunction &sum = module->functions().at(nameOf(Reduction::Sum, ElementType::F32));
  ASSERT_TRUE(sum.runBlock({blocks, 1, 256}, blocks - 1, 0, bytesOfValue(operands), memory).ok());
  ASSERT_EQ(memory.accesses.size(), 3u * 256);
  EXPECT_EQ(memory.accesses[0].address, operands.first + at);
  EXPECT_EQ(memory.accesses[1].address, operands.sources[0] + at);
  EXPECT_EQ(memory.accesses[2].address, operands.target + at);
}

TEST_F(KernelsTest, alignedRangesAreReadAndWrittenByVectors) {
  auto module = PtxModule::parse(device::kernelText());
  ASSERT_TRUE(module.ok()) << module.message();
  auto expectVectors = [&](const std::string &name, std::span<const std::byte> operands,
                           size_t accesses) {
    NotedMemory memory;
    Status s = module->functions().at(name).run({1, 1, 256}, operands, memory);
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(memory.accesses.size(), accesses) << name;
    for (const auto &access : memory.accesses)
      EXPECT_EQ(access.bytes, 16u) << name;
  };
  for (auto [reduction, type] : allDefined()) {
    const ElementType served = device::kernelType(reduction, type);
    device::CombineOperands operands{
        1 << 20, 2 << 20, {3 << 20, 4 << 20}, 160 / sizeBytes(served), 0, 10, 2, true, true};
    expectVectors(nameOf(reduction, served), bytesOfValue(operands), 40);
  }
  device::CopyOperands pieces{{{1 << 20, 2 << 20, 160}}};
  expectVectors(kCopyName, bytesOfValue(pieces), 20);
}

// Numbers of complex numbers that are not at a border of theirs.
TEST_F(KernelsTest, alignedPartsAreReadAsSuch) {
  FakeKernelDevice on;
  ASSERT_TRUE(on.kernels().prepare(Reduction::Prod, ElementType::C128).ok());
  for (uint64_t misalignment : {0, 8, 4}) {
    const uint64_t before = FakeDevice::kernelAccesses();
    DeviceAddress at = on.memory(0, 256) + misalignment;
    Status s = on.kernels().combine(on.stream(), Reduction::Prod, ElementType::C128, Side::After,
                                    at, at, std::span(&at, 1), 160);
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(FakeDevice::kernelAccesses() - before, misalignment == 0   ? 30u
                                                     : misalignment == 8 ? 60u
                                                                         : 480u);
  }
}

// Pieces of all lengths and alignments, in one launch.
TEST_F(KernelsTest, copyPieces) {
  FakeKernelDevice on;
  std::mt19937_64 random(4);
  constexpr uint64_t room = 1 << 14;
  auto *from = static_cast<std::byte *>(FakeDevice::allocate(room));
  auto *to = static_cast<std::byte *>(FakeDevice::allocate(room));
  ASSERT_TRUE(on.kernels().prepareCopies().ok()) << FakeDevice::misuse();
  for (uint32_t count : {1u, 2u, 7u, device::kMaxPieces})
    for (int round = 0; round < 20; ++round) {
      std::vector<device::CopyPiece> pieces;
      std::vector<std::byte> expected(room, kUntouched);
      std::fill(to, to + room, kUntouched);
      for (uint64_t i = 0; i < room; ++i)
        from[i] = std::byte(random());
      const uint64_t share = room / count;
      for (uint32_t i = 0; i < count; ++i) {
        uint64_t bytes = random() % 4 == 0 ? random() % (share / 2) : random() % 70;
        uint64_t toAt = i * share + random() % 40, fromAt = (count - 1 - i) * share + random() % 40;
        if (random() % 2)
          fromAt = fromAt / 16 * 16 + toAt % 16;
        pieces.push_back({reinterpret_cast<DeviceAddress>(to + toAt),
                          reinterpret_cast<DeviceAddress>(from + fromAt), bytes});
        std::copy(from + fromAt, from + fromAt + bytes, expected.data() + toAt);
      }
      ASSERT_TRUE(on.kernels().copy(on.stream(), pieces).ok());
      ASSERT_TRUE(on.finish().ok());
      ASSERT_EQ(std::memcmp(to, expected.data(), room), 0) << count << " pieces, round " << round;
    }
  EXPECT_EQ(FakeDevice::misuse(), "");
}

// The small grid goes through the pieces in steps, for each distance of the two addresses from each
// other.
TEST_F(KernelsTest, aSmallGridCopiesLongPieces) {
  auto module = PtxModule::parse(device::kernelText());
  ASSERT_TRUE(module.ok()) << module.message();
  HostMemory memory;
  std::mt19937_64 random(5);
  for (uint64_t apart : {0, 4, 2, 1}) {
    constexpr uint64_t bytes = 10007;
    std::vector<std::byte> from(bytes + 64), to(bytes + 64, kUntouched);
    for (std::byte &one : from)
      one = std::byte(random());
    std::byte *at = to.data() + 1, *source = from.data() + 1 + apart;
    source += (reinterpret_cast<uint64_t>(at) - reinterpret_cast<uint64_t>(source) + apart) % 16;
    device::CopyOperands operands{
        {{reinterpret_cast<uint64_t>(at), reinterpret_cast<uint64_t>(source), bytes}}};
    ASSERT_TRUE(
        module->functions().at(kCopyName).run({2, 1, 256}, bytesOfValue(operands), memory).ok());
    EXPECT_EQ(std::memcmp(at, source, bytes), 0) << apart;
    EXPECT_EQ(at[-1], kUntouched);
    EXPECT_EQ(at[bytes], kUntouched);
  }
}

TEST_F(KernelsTest, allAreUsed) {
  auto module = PtxModule::parse(device::kernelText());
  ASSERT_TRUE(module.ok()) << module.message();
  std::set<std::string> used = {kCopyName};
  for (auto [reduction, type] : allDefined()) {
    EXPECT_TRUE(Kernels::has(reduction, type));
    used.insert(nameOf(reduction, device::kernelType(reduction, type)));
  }
  std::set<std::string> made;
  for (auto &[name, function] : module->functions())
    made.insert(name);
  EXPECT_EQ(made, used);
  EXPECT_FALSE(Kernels::has(Reduction::Min, ElementType::C64));
}

// Drivers take PTX of their own version and older ones, for their devices and older ones.
TEST_F(KernelsTest, anyDriverSincePascalTakesThem) {
  EXPECT_NE(device::kernelText().find(".version 6.0\n.target sm_60\n.address_size 64\n"),
            std::string_view::npos);
}

TEST_F(KernelsTest, plansOfOneContextShareThem) {
  const device::CudaDriver &driver = FakeDevice::driver();
  FakeKernelDevice on;
  const uint64_t before = FakeDevice::left();
  auto other = Kernels::of(driver, on.context());
  EXPECT_EQ(other.get(), &on.kernels());
  ASSERT_TRUE(other->prepare(Reduction::Sum, ElementType::I32).ok());
  ASSERT_TRUE(on.kernels().prepare(Reduction::Sum, ElementType::U32).ok());
  EXPECT_EQ(FakeDevice::left(), before + 1);
  EXPECT_EQ(FakeDevice::loadedKernels(), 1u); // drivers compile nothing else
  other.reset();
  EXPECT_EQ(FakeDevice::left(), before + 1);
  on.release();
  EXPECT_EQ(FakeDevice::left(), before);
}

TEST_F(KernelsTest, anOperatorThatTheTypeLacksIsAnError) {
  FakeKernelDevice on;
  Status s = on.kernels().prepare(Reduction::Min, ElementType::C64);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.message(), checkDefined(Reduction::Min, ElementType::C64).message());
}

TEST_F(KernelsTest, callsThatFailNameThemselves) {
  const std::pair<const char *, const char *> calls[] = {
      {"cuModuleLoadData", "cuModuleLoadData failed: CUDA_ERROR_INVALID_PTX (218)"},
      {"cuModuleGetFunction", "cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND (500)"},
      {"cuLaunchKernel", "cuLaunchKernel failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)"}};
  for (auto [call, message] : calls) {
    FakeDevice::reset({.failCall = call, .failCallAt = 1});
    FakeKernelDevice on;
    std::mt19937_64 random(1);
    const CombineCase c{Reduction::Sum, ElementType::F64};
    EXPECT_EQ(compareWithHost(c, on, random), message);
    bool isTriedAgain = std::string(call) == "cuLaunchKernel";
    EXPECT_EQ(compareWithHost(c, on, random), isTriedAgain ? "" : message) << call;
  }
}

// A driver that does not take a kernel may look at it for seconds.
TEST_F(KernelsTest, aKernelThatTheDriverDoesNotTakeIsNotTriedAgain) {
  FakeDevice::reset({.failCall = "cuModuleLoadData", .failCallAt = 1});
  FakeKernelDevice on;
  Status first = on.kernels().prepare(Reduction::Sum, ElementType::F64);
  EXPECT_FALSE(first.ok());
  EXPECT_EQ(on.kernels().prepare(Reduction::Sum, ElementType::F64).message(), first.message());
  EXPECT_EQ(FakeDevice::calls("cuModuleLoadData"), 1u);
  EXPECT_TRUE(on.kernels().prepare(Reduction::Sum, ElementType::F32).ok());
  on.release();
  FakeKernelDevice later;
  EXPECT_TRUE(later.kernels().prepare(Reduction::Sum, ElementType::F64).ok());
}

// A launch only adds work to the stream.
TEST_F(KernelsTest, runInTheOrderOfTheStream) {
  FakeKernelDevice on;
  ASSERT_TRUE(on.kernels().prepare(Reduction::Sum, ElementType::I32).ok());
  DeviceAddress at[] = {on.memory(0, 16), on.memory(1, 16), on.memory(2, 16)};
  auto number = [&](int i) -> int32_t & { return *reinterpret_cast<int32_t *>(at[i]); };
  number(0) = 1;
  number(1) = 2;
  auto add = [&](int target, int first, int source) {
    Status s = on.kernels().combine(on.stream(), Reduction::Sum, ElementType::I32, Side::After,
                                    at[target], at[first], std::span(at + source, 1), 4);
    ASSERT_TRUE(s.ok()) << s.message();
  };
  add(2, 0, 1); // 3
  add(0, 2, 1); // 5
  add(0, 0, 0); // 10
  EXPECT_EQ(number(0), 1);
  EXPECT_EQ(FakeDevice::kernels(), 3u);
  ASSERT_TRUE(on.finish().ok());
  EXPECT_EQ(number(2), 3);
  EXPECT_EQ(number(0), 10);
}

// Failures of a kernel are found later, as those of copies.
TEST_F(KernelsTest, aKernelBeyondMemoryFailsItsStream) {
  FakeKernelDevice on;
  ASSERT_TRUE(on.kernels().prepare(Reduction::Sum, ElementType::I32).ok());
  DeviceAddress at = on.memory(0, 16), beyond = at + (1 << 20);
  ASSERT_TRUE(on.kernels()
                  .combine(on.stream(), Reduction::Sum, ElementType::I32, Side::After, at, at,
                           std::span(&beyond, 1), 16)
                  .ok());
  Status s = on.finish();
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.message().find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << s.message();
  EXPECT_NE(FakeDevice::misuse().find("which is not memory of the device"), std::string::npos);
}

TEST_F(KernelsTest, nothingIsLaunchedForNothing) {
  FakeKernelDevice on;
  ASSERT_TRUE(on.kernels().prepare(Reduction::Sum, ElementType::I32).ok());
  DeviceAddress at = on.memory(0, 16);
  EXPECT_TRUE(on.kernels()
                  .combine(on.stream(), Reduction::Sum, ElementType::I32, Side::After, at, at,
                           std::span(&at, 1), 0)
                  .ok());
  ASSERT_TRUE(on.kernels().prepareCopies().ok());
  EXPECT_TRUE(on.kernels().copy(on.stream(), {}).ok());
  EXPECT_EQ(FakeDevice::kernels(), 0u);
}

} // namespace
} // namespace colldsl::test
