#include "driver/requests/SimulationRequest.h"

#include "driver/Lists.h"

namespace colldsl::driver {

void SimulationRequest::addTo(Fields &fields) {
  fields.section("what to simulate");
  single.addTo(fields);
  fields.section("what to simulate");
  fields.add("--ranks", "N", "the same as -n", [this](llvm::StringRef text) -> Status {
    Result<uint32_t> number = parseNumber32(text, 1, UINT32_MAX - 1);
    if (!number)
      return number.status();
    single.ranks = *number;
    return {};
  });
  fields.addCheck([&fields](Sink &) {
    return fields.isGiven("-n") ? fields.refuseGiven({"--ranks"}, "-n is given, too") : Status();
  });
  single.schedule.machine.addLogGopTo(fields);
  disturbance.addTo(fields);
}

} // namespace colldsl::driver
