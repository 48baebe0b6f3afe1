/// The disturbances of a simulation: noise and skew.
#pragma once

#include "driver/RequestFields.h"
#include "passes/CostModel.h"

namespace colldsl::driver {

class DisturbanceRequest {
public:
  /// Its check reads the noise.
  void addTo(Fields &fields);

  /// The simulation on a machine of that cost, without noise before Fields::check().
  sim::SimulateOptions make(const CostModel &cost) const;

private:
  std::string noiseText_;
  sim::NoiseOptions noise_;
  uint64_t skewNs_ = 0;
  uint64_t seed_ = 0;
};

} // namespace colldsl::driver
