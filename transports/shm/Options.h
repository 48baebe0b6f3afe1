/// What may be set when a shared world is made. Sizes in bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace colldsl::shm {

enum class SingleCopy : uint8_t {
  On,
  Off,
  Refused, ///< behave as if the kernel refused: for tests
};

struct Options {
  /// Address space per rank; memory is used when it is touched.
  uint64_t arenaBytes = uint64_t{256} << 20;
  /// Longer messages ask the receiver first; then it reads them (single copy) or
  /// they stream through cells.
  uint32_t cellBytes = 16 << 10;
  uint32_t cellsPerPlan = 16;
  /// Of these, kept for streams, so that they move while eager messages that nobody
  /// receives yet hold all others. At least 1.
  uint32_t reservedCells = 2;
  uint32_t maxRingLines = 128;
  SingleCopy singleCopy = SingleCopy::On;
  /// From here on the receiver reads the sender's memory. Between two ranks with cores of
  /// their own cells are as fast at any size, because both copy at once; but single copy
  /// leaves the sender's core free, and several receivers read at the same time.
  uint64_t singleCopyMinBytes = 256 << 10;
  /// How long a collective open may take.
  std::chrono::nanoseconds bootstrapTimeout = std::chrono::seconds(60);
  /// How often a waiting rank looks whether its peers live.
  std::chrono::nanoseconds watchInterval = std::chrono::milliseconds(2);
  /// Told once per rank what does not work as wished. May be called by any thread
  /// that progresses.
  std::function<void(const std::string &)> warn;
};

} // namespace colldsl::shm
