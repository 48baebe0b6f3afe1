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

/// In place of what ranks measure, where they share cores: from here on one copy by the kernel.
/// Fragments need both ends to have a core again and again.
inline constexpr uint64_t kSingleCopyOnSharedCores = 64 << 10;

struct Options {
  /// Address space per rank; memory is used when it is touched.
  uint64_t arenaBytes = uint64_t{256} << 20;
  SingleCopy singleCopy = SingleCopy::On;
  /// From here on one end reads or writes the other's memory, unless they share it.
  uint64_t singleCopyMinBytes = 16 << 10;
  /// Ranks measure that when they join, and use it in place of singleCopyMinBytes: see CopyCosts.h.
  /// Where they share cores, it is kSingleCopyOnSharedCores. Not where the kernel refuses.
  bool measuresCopies = false;
  /// Ranks that share the cores with these, themselves included; 0: those of the world.
  uint32_t ranksOnMachine = 0;
  /// How long ranks may take to join, and each step of a collective open.
  std::chrono::nanoseconds bootstrapTimeout = std::chrono::seconds(60);
  /// Called again and again by a thread that waits for other ranks to join, or to open with it:
  /// true ends the wait, and fails everything on all ranks. Empty: nothing does.
  std::function<bool()> isInterrupted;
  /// How often a waiting rank looks whether its peers live.
  std::chrono::nanoseconds watchInterval = std::chrono::milliseconds(2);
  /// Called once per rank for what does not work as wished. May be called by any thread
  /// that progresses.
  std::function<void(const std::string &)> warn;
};

} // namespace colldsl::shm
