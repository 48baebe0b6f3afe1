// All kernels on a device of this machine, compared with the functions of the host; with --speed
// also how fast they are.
//
// usage: kernel-check [--speed] [DEVICE]; exits with 77 where there is no driver or device
#include "device/KernelText.h"
#include "ir/Concat.h"
#include "tests/device/KernelCases.h"
#include "tests/device/PrimaryContext.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace colldsl::test {
namespace {

using device::CuContext;
using device::CudaDriver;
using device::CuEvent;
using device::CuStream;
using device::DeviceAddress;
using Clock = std::chrono::steady_clock;

constexpr int kSkipped = 77;

/// A stream of a device, with memory. Errors of its making end the program.
class RealDevice : public KernelDevice {
public:
  RealDevice(const CudaDriver &driver, CuContext context)
      : driver_(driver), kernels_(device::Kernels::of(driver, context)) {
    require(driver.ctxPushCurrent(context), "cuCtxPushCurrent");
    require(driver.streamCreate(&stream_, device::kStreamNonBlocking), "cuStreamCreate");
    require(driver.eventCreate(&event_, device::kEventWithoutTiming), "cuEventCreate");
    locked_.resize(1 << 20);
    require(driver.memHostRegister(locked_.data(), locked_.size(), 0), "cuMemHostRegister");
  }
  device::Kernels &kernels() override { return *kernels_; }
  CuStream stream() override { return stream_; }

  DeviceAddress memory(size_t number, uint64_t bytes) override {
    memory_.resize(std::max(memory_.size(), number + 1));
    auto &[begin, size] = memory_[number];
    if (size < bytes) {
      if (size > 0)
        require(driver_.memFree(begin), "cuMemFree");
      require(driver_.memAlloc(&begin, bytes), "cuMemAlloc");
      size = bytes;
    }
    return begin;
  }
  Status write(DeviceAddress to, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), locked_.begin());
    if (Status s =
            checkCuda(driver_, driver_.memcpyHtoDAsync(to, locked_.data(), bytes.size(), stream_),
                      "cuMemcpyHtoDAsync");
        !s)
      return s;
    return finish();
  }
  Status read(DeviceAddress from, std::span<std::byte> bytes) override {
    if (Status s =
            checkCuda(driver_, driver_.memcpyDtoHAsync(locked_.data(), from, bytes.size(), stream_),
                      "cuMemcpyDtoHAsync");
        !s)
      return s;
    Status s = finish();
    std::copy_n(locked_.begin(), bytes.size(), bytes.begin());
    return s;
  }
  /// Waits for the stream, half a minute at most.
  Status finish() {
    if (Status s = checkCuda(driver_, driver_.eventRecord(event_, stream_), "cuEventRecord"); !s)
      return s;
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    device::CuResult result = device::kCudaNotReady;
    while (result == device::kCudaNotReady && Clock::now() < deadline)
      result = driver_.eventQuery(event_);
    return checkCuda(driver_, result, "cuEventQuery");
  }
  const CudaDriver &driver() const { return driver_; }

  void require(device::CuResult result, const char *call) {
    require(checkCuda(driver_, result, call));
  }
  void require(const Status &s) {
    if (s)
      return;
    std::fprintf(stderr, "kernel-check: %s\n", s.message().c_str());
    std::exit(1);
  }

private:
  const CudaDriver &driver_;
  std::shared_ptr<device::Kernels> kernels_;
  CuStream stream_ = nullptr;
  CuEvent event_ = nullptr;
  std::vector<std::byte> locked_;
  std::vector<std::pair<DeviceAddress, uint64_t>> memory_;
};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How long drivers compile.
void prepareAll(RealDevice &device) {
  double longest = 0;
  const auto start = Clock::now();
  for (auto [reduction, type] : allDefined()) {
    const auto one = Clock::now();
    device.require(device.kernels().prepare(reduction, type));
    longest = std::max(longest, secondsSince(one));
  }
  device.require(device.kernels().prepareCopies());
  std::printf("all kernels loaded in %.0f ms, one in %.1f ms at most\n", secondsSince(start) * 1e3,
              longest * 1e3);
}

// The number of cases that differ.
int checkCombines(RealDevice &device) {
  int wrong = 0, count = 0;
  std::mt19937_64 random(1);
  auto check = [&](const CombineCase &c, const std::vector<std::vector<std::byte>> *given) {
    ++count;
    std::string difference = compareWithHost(c, device, random, given);
    if (!difference.empty() && ++wrong <= 20)
      std::printf("%s: %s\n", c.describe().c_str(), difference.c_str());
  };
  for (const CombineCase &c : combineCases(1))
    check(c, nullptr);
  for (auto [reduction, type] : allDefined()) {
    // More blocks than one, and in vectors and one by one.
    for (uint64_t misalignment : {0, 1})
      check({reduction, type, Side::After, 20000 / sizeBytes(type) * 3 + 1, 3, {0, misalignment}},
            nullptr);
    if (arithmetic(type) != Arithmetic::SmallReal)
      continue;
    auto pairs = smallPairs(type, random);
    check({reduction, type, Side::After, pairs[0].size() / sizeBytes(type)}, &pairs);
  }
  std::printf("%d of %d combines are the host's\n", count - wrong, count);
  return wrong;
}

int checkCopies(RealDevice &device) {
  int wrong = 0;
  std::mt19937_64 random(2);
  constexpr uint64_t room = 1 << 18;
  std::vector<std::byte> source(room), expected(room), result(room);
  for (std::byte &one : source)
    one = std::byte(random());
  const DeviceAddress from = device.memory(0, room), to = device.memory(1, room);
  device.require(device.write(from, source));
  for (int round = 0; round < 100; ++round) {
    std::fill(expected.begin(), expected.end(), std::byte{0x5c});
    device.require(device.write(to, expected));
    std::vector<device::CopyPiece> pieces;
    const uint64_t share = room / device::kMaxPieces;
    for (uint64_t i = 0; i < device::kMaxPieces; ++i) {
      uint64_t toAt = i * share + random() % 20, fromAt = random() % (room - share),
               bytes = random() % (share - 20);
      if (random() % 2)
        fromAt = fromAt / 16 * 16 + toAt % 16;
      pieces.push_back({to + toAt, from + fromAt, bytes});
      std::copy_n(source.begin() + fromAt, bytes, expected.begin() + toAt);
    }
    device.require(device.kernels().copy(device.stream(), pieces));
    device.require(device.read(to, result));
    wrong += result != expected;
  }
  std::printf("%d of 100 copies of %u pieces are right\n", 100 - wrong, device::kMaxPieces);
  return wrong;
}

// Bytes per second of the memory, read and written, and of kernels as a share of the driver's copy.
class Speed {
public:
  explicit Speed(RealDevice &device) : device_(device) {
    for (size_t i = 0; i < device::kMaxSources + 2; ++i)
      at_.push_back(device.memory(i, kLargest + 64));
  }

  void run() {
    for (uint64_t bytes : {uint64_t{1} << 16, uint64_t{1} << 20, uint64_t{1} << 24, kLargest}) {
      std::printf("%8llu KiB: the driver's copy %.0f GB/s",
                  static_cast<unsigned long long>(bytes >> 10), copyOfDriver(bytes));
      std::printf("; kernel's copy %.0f GB/s, of 64 pieces %.0f GB/s\n", copyOfKernel(bytes, 1),
                  copyOfKernel(bytes, device::kMaxPieces));
      for (auto [reduction, type] : {std::pair(Reduction::Sum, ElementType::F32),
                                     {Reduction::Sum, ElementType::F64},
                                     {Reduction::Sum, ElementType::I8},
                                     {Reduction::Sum, ElementType::F16},
                                     {Reduction::Sum, ElementType::BF16},
                                     {Reduction::Sum, ElementType::F8E4M3},
                                     {Reduction::Sum, ElementType::F8E5M2},
                                     {Reduction::Max, ElementType::BF16},
                                     {Reduction::Prod, ElementType::C64}}) {
        std::printf("  %-5s %-7s GB/s of 1, 2, 4, 8 sources:",
                    std::string(spelling(reduction)).c_str(), std::string(spelling(type)).c_str());
        for (uint32_t sources : {1, 2, 4, 8})
          std::printf(" %6.0f", combine(reduction, type, sources, bytes, 0));
        std::printf("; of 1, misaligned by an element: %.0f\n",
                    combine(reduction, type, 1, bytes, sizeBytes(type)));
      }
    }
  }

private:
  static constexpr uint64_t kLargest = 1 << 28;

  template <typename Launch> double speed(uint64_t bytesOfOne, Launch launch) {
    const int times =
        static_cast<int>(std::clamp<uint64_t>((uint64_t{1} << 33) / bytesOfOne, 20, 1000));
    for (int i = 0; i < 3; ++i)
      device_.require(launch());
    device_.require(device_.finish());
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i)
      device_.require(launch());
    device_.require(device_.finish());
    return static_cast<double>(bytesOfOne) * times / secondsSince(start) / 1e9;
  }
  double copyOfDriver(uint64_t bytes) {
    return speed(2 * bytes, [&] {
      return checkCuda(device_.driver(),
                       device_.driver().memcpyDtoDAsync(at_[0], at_[1], bytes, device_.stream()),
                       "cuMemcpyDtoDAsync");
    });
  }
  double copyOfKernel(uint64_t bytes, uint64_t count) {
    std::vector<device::CopyPiece> pieces;
    for (uint64_t i = 0; i < count; ++i)
      pieces.push_back({at_[0] + bytes / count * i, at_[1] + bytes / count * i, bytes / count});
    return speed(2 * bytes, [&] { return device_.kernels().copy(device_.stream(), pieces); });
  }
  double combine(Reduction reduction, ElementType type, uint32_t sources, uint64_t bytes,
                 uint64_t misalignment) {
    std::vector<DeviceAddress> from(at_.begin() + 2, at_.begin() + 2 + sources);
    from.back() += misalignment;
    return speed((sources + 2) * bytes, [&] {
      return device_.kernels().combine(device_.stream(), reduction, type, Side::After, at_[0],
                                       at_[1], from, bytes);
    });
  }

  RealDevice &device_;
  std::vector<DeviceAddress> at_;
};

int skip(std::string_view why) {
  std::printf("skipped: %.*s\n", static_cast<int>(why.size()), why.data());
  return kSkipped;
}

int check(int number, bool wantsSpeed) {
  if (device::kernelText().empty())
    return skip("the library was built without clang 19, so it has no kernels");
  Result<const CudaDriver *> driver = device::cudaDriver();
  if (!driver)
    return skip(driver.message());
  std::string name;
  Result<CuContext> context = primaryContext(**driver, number, name);
  if (!context)
    return skip(context.message());
  std::printf("device %d: %s\n", number, name.c_str());
  RealDevice device(**driver, *context);
  prepareAll(device);
  int wrong = checkCombines(device) + checkCopies(device);
  if (wantsSpeed)
    Speed(device).run();
  return wrong ? 1 : 0;
}

} // namespace
} // namespace colldsl::test

int main(int count, char **arguments) {
  bool wantsSpeed = false;
  int number = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--speed")
      wantsSpeed = true;
    else if (argument.size() == 1 && argument[0] >= '0' && argument[0] <= '9')
      number = argument[0] - '0';
    else {
      std::fprintf(stderr, "usage: kernel-check [--speed] [DEVICE]\n");
      return 2;
    }
  }
  return colldsl::test::check(number, wantsSpeed);
}
