/// The passes of all requests that make schedules.
#pragma once

#include "driver/RequestFields.h"
#include "passes/Pipeline.h"

namespace colldsl::driver {

struct PassRequest {
  Pipeline pipeline;
  bool printAfterAll = false;
  bool timePasses = false;
  bool verifyEach = false;
  bool verifyMade = false; ///< prove the result of the passes

  void addTo(Fields &fields);
  /// Adds --no-verify, too, for requests that prove the result of passes by default.
  void addProofTo(Fields &fields);
};

} // namespace colldsl::driver
