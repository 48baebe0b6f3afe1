/// Runs ranks as processes of this machine, for `colldsl run` and for tests.
#pragma once

#include "transports/Transport.h"
#include "transports/shm/World.h"

#include <functional>

namespace colldsl {

struct LocalOptions {
  uint32_t numRanks = 1;
  bool bindToCores = false; ///< rank r to the r-th core that this process may use, going round
  shm::Options shm;
  /// How a rank joins the others over the memory that they share; empty: shm::attach().
  std::function<Result<std::unique_ptr<Endpoint>>(shm::World &, Rank)> attach;
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max(); ///< then all are killed
  /// Once a rank has failed the others have so long to notice, or are killed too.
  std::chrono::nanoseconds grace = std::chrono::seconds(3);
};

/// How one rank ended.
struct LocalOutcome {
  Status status;                ///< ok: the body returned a value and the process exited with 0
  std::vector<std::byte> bytes; ///< what the body returned
  int signal = 0;               ///< that killed the process
  bool tooLate = false;         ///< it was killed here, because time or the others' grace was over
};

/// What a rank does. Runs in its process; what it returns travels to the parent.
using RankBody = std::function<Result<std::vector<std::byte>>(Endpoint &)>;

/// Forks the ranks, connects them over shared memory, runs the body in each, waits for
/// all and gathers what they returned, indexed by rank. The calling process should have
/// one thread only; children live no longer than that thread. Fails only if the ranks
/// could not be started; then none is left.
Result<std::vector<LocalOutcome>> runLocalRanks(const LocalOptions &options, const RankBody &body);

/// Why it failed, if it did: a rank that was killed, else the first that complains.
Status firstFailure(const std::vector<LocalOutcome> &outcomes);

} // namespace colldsl
