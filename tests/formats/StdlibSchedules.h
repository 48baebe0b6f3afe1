/// Collectives of the standard library as schedules.
#pragma once

#include "ir/Schedule.h"

#include <string>

namespace colldsl {

struct StdlibCall {
  uint32_t ranks = 4;
  bool inPlace = false;
  uint64_t elements = 64;
};

/// Aborts if there is no such collective; an error if it cannot be called so.
Result<Schedule> stdlibSchedule(const std::string &name, StdlibCall call);

} // namespace colldsl
