#include "transports/cma/Costs.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace colldsl::cma {
namespace {

constexpr size_t kShort = 4 << 10, kLong = 64 << 10;
constexpr int kTries = 5;

/// The least of some tries, for whatever comes in between only adds; negative: a try failed.
template <typename Copy> double leastNs(Copy copy) {
  using Clock = std::chrono::steady_clock;
  double least = -1;
  for (int i = 0; i < kTries; ++i) {
    Clock::time_point begin = Clock::now();
    if (!copy())
      return -1;
    double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    least = least < 0 ? ns : std::min(least, ns);
  }
  return least;
}

} // namespace

// A process may always read itself, and pays what it pays for others.
std::optional<Costs> measureCosts() {
  std::vector<std::byte> source(kLong, std::byte{1}), target(kLong);
  auto byKernel = [&](size_t bytes) {
    return leastNs([&] {
      iovec to{target.data(), bytes}, from{source.data(), bytes};
      return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes);
    });
  };
  double shortNs = byKernel(kShort), longNs = byKernel(kLong);
  double ownNs = leastNs([&] {
    std::memcpy(target.data(), source.data(), kLong);
    asm volatile("" : : "r"(target.data()) : "memory"); // it is wanted
    return true;
  });
  if (shortNs < 0 || longNs < 0)
    return std::nullopt;
  Costs costs;
  costs.kernelByte = std::max(0.0, (longNs - shortNs) / (kLong - kShort));
  costs.call = std::max(0.0, shortNs - costs.kernelByte * kShort);
  costs.processByte = ownNs / kLong;
  return costs;
}

uint64_t singleCopyFrom(const Costs &costs, uint64_t least, uint64_t most) {
  double savedPerByte = 1.5 * costs.processByte - costs.kernelByte;
  double bytes = savedPerByte > 0 ? costs.call / savedPerByte : static_cast<double>(most);
  return static_cast<uint64_t>(
      std::clamp(bytes, static_cast<double>(least), static_cast<double>(most)));
}

} // namespace colldsl::cma
