/// Options of a shared world. Sizes in bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace colldsl::shm {

enum class SingleCopy : uint8_t {
  On,
  Off,
  Refused, ///< behave as if the kernel refused: for tests
};

/// The singleCopyMinBytes of ranks that share cores, in place of a measured one. Fragments need a
/// core at both ends again and again.
inline constexpr uint64_t kSingleCopyOnSharedCores = 64 << 10;

/// The sizes from which one copy by the kernel takes less time than two through shared memory.
struct CopySizes {
  uint64_t singleCopyMinBytes = 0; ///< where ranks exchange
  /// The longest messages that travel in two copies, unless ranks exchange.
  uint32_t rendezvousThresholdBytes = 0;
};

struct Options {
  /// Address space per rank, in each process; memory is used when it is touched.
  uint64_t arenaBytes = uint64_t{256} << 20;
  /// The most that a rank lends beyond its arena (Lender). It takes address space where it is lent
  /// and where it is reached.
  uint64_t lentBytes = 0;
  SingleCopy singleCopy = SingleCopy::On;
  /// From this length on one end reads or writes the other's memory, unless they share it.
  uint64_t singleCopyMinBytes = 16 << 10;
  /// Ranks measure singleCopyMinBytes when they join: see CopyCosts.h. Ranks that share cores use
  /// kSingleCopyOnSharedCores instead. Without effect if the kernel refuses single copies.
  bool measuresCopies = false;
  /// With measuresCopies: the sizes that earlier jobs measured, so that ranks need not.
  std::optional<CopySizes> copySizes;
  /// Ranks that share the cores with these, themselves included; 0: those of the world.
  uint32_t ranksOnMachine = 0;
  /// The time that ranks may take to join, and for each step of a collective open.
  std::chrono::nanoseconds bootstrapTimeout = std::chrono::seconds(60);
  /// A thread that waits for other ranks to join, or to open with it, calls this again and again:
  /// true ends the wait, and fails everything on all ranks. Empty: nothing ends it.
  std::function<bool()> isInterrupted;
  /// The interval at which a waiting rank checks that its peers live.
  std::chrono::nanoseconds watchInterval = std::chrono::milliseconds(2);
  /// Reports, once per rank, a feature that does not work as wished. Any thread that progresses may
  /// call it.
  std::function<void(const std::string &)> warn;
};

/// Lets ranks use the sizes that earlier jobs measured, or measure them if these are too few
/// (KnownCopySizes.h).
void measureOrUseKnown(Options &options);

} // namespace colldsl::shm
