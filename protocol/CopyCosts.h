/// From which size on one copy by the kernel is done before two copies through memory that ranks
/// share: measured between two processes, since what copies cost depends on whose cache data is in.
///
/// Programs differ in that. One that rewrites its buffers between calls has them in the sender's
/// cache: either way fetches them from there. One that leaves them as they are has them in the
/// receiver's as well, where the kernel's copy finds them, while memory that one rank writes to and
/// the other reads from never stays in a cache. The size that is chosen loses as little as can be
/// in the one case and gains as much as can be in the other.
#pragma once

#include "protocol/Worker.h"

#include <optional>
#include <span>

namespace colldsl::protocol {

/// Nanoseconds until two ranks have exchanged messages of so many bytes.
struct CopyCost {
  uint64_t bytes;
  struct Case {
    double singleCopyNs, twoCopiesNs;
  } rewritten, unchanged;
};

/// Collective over two ranks, which share no core; takes about a millisecond. No other messages are
/// under way between them. Empty: the other one died, or the kernel does not copy.
std::vector<CopyCost> measureCopies(Worker &worker, Rank peer);

/// The least size from which on the single copy gains more in one case than it loses in the other,
/// as factors; nothing: not even at the longest. `costs` by size, ascending.
std::optional<uint64_t> singleCopyFrom(std::span<const CopyCost> costs);

/// In place of "not even at the longest".
inline constexpr uint64_t kLatestSingleCopy = 256 << 10;

/// From which size on two ranks are to use the single copy, as measureCopies() finds it; nothing:
/// it finds nothing.
std::optional<uint64_t> measureSingleCopyFrom(Worker &worker, Rank peer);

} // namespace colldsl::protocol
