// Reductions of every type, in GB/s of the target, beside memcpy of as many bytes: in the first
// cache, in the second, and in memory.
//
// Every figure is the best of several turns, in time of the processor.
#include "bench/executor/Measure.h"
#include "executor/Reduce.h"

#include <cstdio>
#include <cstring>

namespace colldsl::bench {
namespace {

constexpr int kTurns = 9;

/// The best of several turns.
template <typename Run> double gbPerS(size_t bytes, Run run) {
  auto calls = static_cast<uint32_t>(std::max<size_t>(1, (4 << 20) / bytes));
  double best = 0;
  for (int turn = 0; turn < kTurns; ++turn)
    best = std::max(best, static_cast<double>(bytes) / processorNsPerCall(calls, run));
  return best;
}

void table(size_t bytes) {
  std::vector<std::byte> target(bytes), source(bytes);
  double copy = gbPerS(bytes, [&] {
    std::memcpy(target.data(), source.data(), bytes);
    asm volatile("" ::"r"(target.data()) : "memory");
  });
  std::printf("%zu KiB, GB/s; memcpy %.1f\n%-8s", bytes >> 10, copy, "");
  for (unsigned t = 0; t < kElementTypes; ++t)
    std::printf("%6s", std::string(spelling(static_cast<ElementType>(t))).c_str());
  for (unsigned r = 0; r < kReductions; ++r) {
    std::printf("\n%-8s", std::string(spelling(static_cast<Reduction>(r))).c_str());
    for (unsigned t = 0; t < kElementTypes; ++t) {
      auto reduce =
          findReduction(static_cast<Reduction>(r), static_cast<ElementType>(t), Side::After);
      if (reduce)
        std::printf("%6.1f", gbPerS(bytes, [&] {
                      (*reduce)(target.data(), target.data(), source.data(), bytes);
                    }));
      else
        std::printf("%6s", "");
    }
  }
  std::printf("\n\n");
}

} // namespace
} // namespace colldsl::bench

int main() {
  for (size_t bytes : {size_t{4} << 10, size_t{1} << 20, size_t{64} << 20})
    colldsl::bench::table(bytes);
}
