/// What it costs to have the kernel copy, measured when a process starts.
#pragma once

#include <cstdint>
#include <optional>

namespace colldsl::cma {

/// In nanoseconds, of data in a near cache.
struct Costs {
  double call = 0;        ///< what a call of the kernel takes besides
  double kernelByte = 0;  ///< copied by the kernel
  double processByte = 0; ///< copied by the process itself
};

/// Takes some hundred microseconds. Nothing: the kernel does not let us.
std::optional<Costs> measureCosts();

/// From so many bytes on, one copy by the kernel is done before two copies through memory that
/// ranks share, of those from `least` to `most`. The two overlap where data goes one way, and
/// follow each other where it goes both: this is the mean of the two cases.
uint64_t singleCopyFrom(const Costs &costs, uint64_t least, uint64_t most);

} // namespace colldsl::cma
