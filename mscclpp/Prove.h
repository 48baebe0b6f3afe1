/// Proves an execution plan: signals and waits match, all launches end, accesses of one place are
/// ordered, and each launch leaves the result of its collective, whatever launches come before it.
#pragma once

#include "mscclpp/Events.h"

namespace colldsl::mscclpp {

/// Why a plan is refused.
struct Refusal {
  std::string message;            ///< "race: ..."
  std::vector<std::string> notes; ///< the order that is missing
  std::vector<EventId> events;    ///< the steps that it names, of Verdict::cells; a race has two
};

struct Verdict {
  std::vector<Refusal>
      refusals; ///< of the first chunk length that fails, the first of each pair of ops
  bool promisesNothing = false; ///< the collective has no result that is known
  uint32_t launches = 0;        ///< that were proved one after another
  CellCounts cells;             ///< of the chunk length that fails
  std::string lengths;          ///< "chunks of any multiple of 16 bytes"; those that fail
};

/// An error if the plan is beyond what can be proved.
Result<Verdict> prove(const Plan &plan);

} // namespace colldsl::mscclpp
