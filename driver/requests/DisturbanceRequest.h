/// The disturbances of a simulation: noise and skew.
#pragma once

#include "driver/RequestFields.h"
#include "passes/CostModel.h"

namespace colldsl::driver {

class DisturbanceRequest {
public:
  void addTo(Fields &fields);

  /// The simulation on a machine of that cost. Reads the noise: an error names the field, or the
  /// file.
  Result<sim::SimulateOptions> make(const CostModel &cost) const;

private:
  std::string noise_;
  uint64_t skewNs_ = 0;
  uint64_t seed_ = 0;
};

} // namespace colldsl::driver
