/// How ranks that cannot talk yet tell each other where their channels are.
#pragma once

#include "ir/Ids.h"
#include "ir/Result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace colldsl {

struct Parcel {
  Rank peer = kNoRank;
  std::vector<std::byte> bytes;
};

/// All calls are collective over all ranks, in the same order everywhere, and take
/// bounded time: a rank that died or never came is an error. Off the fast path.
/// One thread at a time.
class Bootstrap {
public:
  virtual ~Bootstrap() = default;

  /// Sends at most one parcel to each peer and fetches those that the peers named
  /// in `in` have for this rank; one that is not there stays empty. `out` is sorted
  /// by peer. Costs what this rank's own parcels cost, and a barrier.
  virtual Status exchange(std::span<const Parcel> out, std::span<Parcel> in) = 0;

  virtual Status barrier() = 0;

  /// Called again and again while a call waits for other ranks, where the bootstrap can.
  void whileWaiting(std::function<void()> doThis) { whileWaiting_ = std::move(doThis); }

protected:
  std::function<void()> whileWaiting_;
};

} // namespace colldsl
