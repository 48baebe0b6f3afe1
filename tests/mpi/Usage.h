/// What this process holds of the machine.
#pragma once

namespace conformance {

struct Usage {
  long residentKiB = 0; ///< what was freed is given back before
  long openFiles = 0;

  static Usage now();
};

} // namespace conformance
