/// What a schedule costs: the question that passes ask before they change one. Whoever
/// runs the passes may answer with a better model; LogGP is the one at hand.
#pragma once

#include "ir/Schedule.h"

#include <vector>

namespace colldsl {

class CostModel {
public:
  virtual ~CostModel() = default;

  /// When the last rank finishes, in ns. `sizes` as in verify(). An error: the schedule
  /// cannot run to its end.
  virtual Result<uint64_t> makespanNs(const Schedule &schedule,
                                      const std::vector<Sizes> &sizes) const = 0;
};

} // namespace colldsl
