/// Network interfaces of a machine, and where they are plugged in.
#pragma once

#include "ir/Result.h"

#include <string>
#include <vector>

namespace colldsl {

struct Nic {
  std::string name;
  uint32_t numa = 0; ///< the NUMA node next to it, counted within its node
};

/// Of this machine (empty name), or of one that hwloc exported as XML with its devices.
Result<std::vector<Nic>> discoverNics(const std::string &xmlFile);

} // namespace colldsl
