#include "driver/requests/SimulationRequest.h"

namespace colldsl::driver {

void SimulationRequest::addTo(Fields &fields) {
  fields.section("what to simulate");
  single.addTo(fields);
  fields.section("what to simulate");
  fields.addAlias("--ranks", "-n");
  fields.addCheck([&fields](Sink &) {
    return fields.isGiven("-n") ? fields.refuseGiven({"--ranks"}, "-n is given, too") : Status();
  });
  single.schedule.machine.addLogGopTo(fields);
  disturbance.addTo(fields);
}

} // namespace colldsl::driver
