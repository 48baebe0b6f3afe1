/// Fusing: leaves out needless temporaries and copies. A receive into a temporary that
/// is copied once goes to where the copy goes; a send of a copy of what never changes sends the
/// original; copies of bytes that lie side by side become one; ops whose results no op reads
/// vanish. Where a receive has one reader, a combine or a send that passes it on, it is marked
/// `streamed`: the executor may hand on bytes as they come; in simulated time that is no
/// difference.
///
/// example: `recv t; copy t to y` becomes `recv y`; `recv t; combine t into y` is streamed
/// bound: (ops + slices) log, until nothing changes
/// source: M. Cowan et al., "MSCCLang: Microsoft collective communication language", ASPLOS 2023
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct Fuse {
  bool streams = true;

  void describe(PassOptions &options);
};

Result<DagOutcome> fuseOps(Schedule schedule, const Fuse &options, const DagContext &context);

} // namespace colldsl
