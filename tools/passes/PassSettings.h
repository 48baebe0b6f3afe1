/// --passes and what belongs to it, for all commands that make schedules.
#pragma once

#include "passes/Pipeline.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

struct PassSettings {
  Pipeline pipeline;
  bool printAfterAll = false;
  bool timePasses = false;
  bool verifyEach = false;

  /// This object outlives the parse.
  void addTo(Options &options);
};

} // namespace colldsl::tools
