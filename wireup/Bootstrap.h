/// The exchange by which ranks that are not connected yet find each other's channels.
#pragma once

#include "ir/Ids.h"
#include "ir/Result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace colldsl {

/// The bytes that a rank sends to, or gets from, one peer.
struct BootstrapData {
  Rank peer = kNoRank;
  std::vector<std::byte> bytes;
};

/// All calls are collective over all ranks, in the same order everywhere, and take
/// bounded time: a rank that died or never came is an error. Off the fast path.
/// One thread at a time.
class Bootstrap {
public:
  virtual ~Bootstrap() = default;

  /// Sends data to each peer of `out`, once at most, and fetches what the peers named
  /// in `in` have for this rank; the bytes of one that has nothing stay empty. `out` is sorted
  /// by peer. Costs as much as this rank's own data, and a barrier.
  virtual Status exchange(std::span<const BootstrapData> out, std::span<BootstrapData> in) = 0;

  virtual Status barrier() = 0;

  /// Called again and again while a call waits for other ranks, where the bootstrap can.
  void whileWaiting(std::function<void()> doThis) { whileWaiting_ = std::move(doThis); }

protected:
  std::function<void()> whileWaiting_;
};

} // namespace colldsl
