/// A request for the simulation of one schedule.
#pragma once

#include "driver/requests/DisturbanceRequest.h"
#include "driver/requests/SingleRequest.h"

namespace colldsl::driver {

struct SimulationRequest {
  SingleRequest single;
  DisturbanceRequest disturbance;

  void addTo(Fields &fields);
  /// The machine, and its disturbances, as Fields::check() read them.
  sim::SimulateOptions model() const { return disturbance.make(single.schedule.machine.cost()); }
};

} // namespace colldsl::driver
