/// Ranks as forked processes of this machine.
#pragma once

#include "ir/Ids.h"
#include "ir/Result.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace colldsl {

struct ForkOptions {
  uint32_t numRanks = 1;
  bool bindToCores = false; ///< rank r to the r-th core that this process may use, going round
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max(); ///< then all are killed
  /// Once a rank has failed the others have so long to notice, or are killed too.
  std::chrono::nanoseconds grace = std::chrono::seconds(3);
  std::function<void(Rank)> onEnd; ///< of a rank; called in this process, may be empty
};

/// The end of one rank.
struct RankOutcome {
  Status status;                ///< ok: the body returned a value and the process exited with 0
  std::vector<std::byte> bytes; ///< what the body returned
  int signal = 0;               ///< that killed the process
  bool tooLate = false;         ///< it was killed here, because time or the others' grace was over
};

/// The body of a rank. Runs in its process; its result travels to the parent.
using RankProcess = std::function<Result<std::vector<std::byte>>(Rank)>;

/// Forks the ranks, runs the body in each, waits for all and gathers what they returned, indexed by
/// rank. The calling process should have one thread only; children live no longer than that thread.
/// Fails only if the ranks could not be started; then none is left.
Result<std::vector<RankOutcome>> forkRanks(const ForkOptions &options, const RankProcess &body);

/// The reason of the failure, if there is one: a rank that was killed, else the first that
/// complains.
Status firstFailure(const std::vector<RankOutcome> &outcomes);

} // namespace colldsl
