/// --passes and related options, for all commands that make schedules.
#pragma once

#include "passes/Pipeline.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

struct PassSettings {
  Pipeline pipeline;
  bool printAfterAll = false;
  bool timePasses = false;
  bool verifyEach = false;
  bool verifyMade = false; ///< prove the result of the passes

  /// This object outlives the parse.
  void addTo(Options &options);
  /// Adds --no-verify, too, for commands that write the result of passes and prove it by default.
  void addProofTo(Options &options);
};

} // namespace colldsl::tools
