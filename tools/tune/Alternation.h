/// Calls that take turns, so that what disturbs a machine disturbs all of them alike.
#pragma once

#include "runtime/RoundTimes.h"
#include "tools/tune/TimedCall.h"

namespace colldsl::tools {

/// Collective, as all that it does.
class Alternation {
public:
  static Result<std::unique_ptr<Alternation>> make(Communicator &communicator, Library &library);

  /// So many rounds of one call each. Appends to times[i] for calls[i], alike on all ranks.
  Status run(std::span<TimedCall *const> calls, CallMemory &memory, uint32_t rounds,
             std::span<RoundTimes *const> times);

  /// Of the last run() a barrier per round, of which the machine and not the calls decide how long
  /// it takes. Alike on all ranks.
  const RoundTimes &barriers() const { return barriers_; }

  /// The greatest of what the ranks have.
  Result<int64_t> greatest(int64_t mine);

private:
  explicit Alternation(Communicator &communicator, Library &library)
      : barrier_(communicator, library, "barrier"), greatest_(communicator, library, "allreduce") {}
  Status open();
  Status agree(std::span<int64_t> values);

  static constexpr size_t kWords = 512;
  CollectivePlan barrier_, greatest_;
  RoundTimes barriers_;
  std::vector<int64_t> mine_ = std::vector<int64_t>(kWords), all_ = mine_;
};

} // namespace colldsl::tools
