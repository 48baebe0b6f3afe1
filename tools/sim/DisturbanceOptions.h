/// The options for disturbances of a simulation: noise and skew.
#pragma once

#include "passes/CostModel.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

class DisturbanceOptions {
public:
  /// This object outlives the parse.
  void addTo(Options &options);

  /// The simulation that the options describe, on a machine of that cost. An error names the
  /// option, or the file.
  Result<sim::SimulateOptions> make(const CostModel &cost) const;

private:
  std::string noise_;
  uint64_t skewNs_ = 0;
  uint64_t seed_ = 0;
};

} // namespace colldsl::tools
