/// The sizes from which on one copy by the kernel takes less time than two copies through memory
/// that ranks share: measured between two processes, since the time depends on whose cache has the
/// data.
///
/// Programs differ in that. One that rewrites its buffers between calls has them in the sender's
/// cache: either way fetches them from there. One that leaves them as they are has them in the
/// receiver's as well, where the kernel's copy finds them, while memory that one rank writes to and
/// the other reads from never stays in a cache. The size that is chosen loses as little as can be
/// in the one case and gains as much as can be in the other.
///
/// Operations differ, too. Ranks that exchange both copy all the time, so a copy less counts. A
/// rank that only sends goes on as soon as its messages are in the FIFO, and copies the next one
/// while its receiver copies the last.
#pragma once

#include "protocol/local/LocalWorker.h"

#include <optional>
#include <span>

namespace colldsl::protocol {

/// Nanoseconds that messages of so many bytes take.
struct CopyCost {
  uint64_t bytes;
  struct Case {
    double singleCopyNs, twoCopiesNs;
  } rewritten, unchanged;
};

/// By size, ascending.
struct CopyCosts {
  std::vector<CopyCost> exchanged; ///< one each way, at the same time
  std::vector<CopyCost> oneWay;    ///< several, one after the other; where two copies may be eager
};

/// Collective over two ranks, which share no core; takes some milliseconds. No other messages are
/// under way between them. Empty: the other one died, or the kernel does not copy.
CopyCosts measureCopies(LocalWorker &worker, Rank peer);

/// A near tie is for the single copy: between cores that are further apart than those that measured
/// it gains more, as it moves each byte between caches once.
inline constexpr double kLeastGainExchanged = 0.8;

/// The least size from which on the single copy gains `leastGain` in both cases together, as
/// factors; nothing: not even at the longest.
std::optional<uint64_t> singleCopyFrom(std::span<const CopyCost> costs,
                                       double leastGain = kLeastGainExchanged);

/// In place of "not even at the longest".
inline constexpr uint64_t kLatestSingleCopy = 256 << 10;

/// The limits for two ranks, by measureCopies(); nothing: it measures nothing.
std::optional<CopyLimits> measureCopyLimits(LocalWorker &worker, Rank peer);

/// Sets the sizes of a world that measures them, by the first two ranks. Each rank calls it, and
/// all meet behind it. Keeps them for later jobs, unless other work took the core meanwhile.
void measureCopySizes(LocalWorker &worker);

} // namespace colldsl::protocol
