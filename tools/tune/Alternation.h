/// Calls that take turns, so that a disturbance of the machine affects all of them alike.
#pragma once

#include "select/RoundTimes.h"
#include "tools/tune/TimedCall.h"

namespace colldsl::tools {

/// All of its methods except barriers() are collective.
class Alternation {
public:
  static Result<std::unique_ptr<Alternation>> make(Communicator &communicator, Library &library);

  /// Runs `rounds` rounds, in which each call runs once. Appends the times of calls[i] to times[i],
  /// equal on all ranks.
  Status run(std::span<TimedCall *const> calls, CallMemory &memory, uint32_t rounds,
             std::span<RoundTimes *const> times);

  /// The times of a barrier per round of the last run(). They depend on the machine, not on the
  /// calls. Equal on all ranks.
  const RoundTimes &barriers() const { return barriers_; }

  /// The greatest value of all ranks.
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
