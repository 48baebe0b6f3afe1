/// Calls that take turns, so that what disturbs a machine disturbs all of them alike.
#pragma once

#include "tools/tune/TimedCall.h"

namespace colldsl::tools {

/// Nanoseconds per round, of each the slowest rank.
using RoundTimes = std::vector<double>;

double medianOf(RoundTimes times);

/// How many times longer the calls of `slow` took than those of `fast` in the same rounds: the
/// median, and the interval that holds it with 95 %, by order statistics. Of no or few rounds the
/// interval is from 0 to infinity.
struct Ratio {
  double median = 1, least = 0, most = 1e9;
};
Ratio ratioOf(const RoundTimes &slow, const RoundTimes &fast);

/// Collective, as all that it does.
class Alternation {
public:
  static Result<std::unique_ptr<Alternation>> make(Communicator &communicator, Library &library);

  /// So many rounds of one call each. Appends to times[i] for calls[i], alike on all ranks.
  Status run(std::span<TimedCall *const> calls, CallMemory &memory, uint32_t rounds,
             std::span<RoundTimes *const> times);

  /// The greatest of what the ranks have.
  Result<int64_t> greatest(int64_t mine);

private:
  explicit Alternation(Communicator &communicator, Library &library)
      : barrier_(communicator, library, "barrier"), greatest_(communicator, library, "allreduce") {}
  Status open();
  Status agree(std::span<int64_t> values);

  static constexpr size_t kWords = 512;
  CollectivePlan barrier_, greatest_;
  std::vector<int64_t> mine_ = std::vector<int64_t>(kWords), all_ = mine_;
};

} // namespace colldsl::tools
