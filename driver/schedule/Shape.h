/// The ranks, size and machine that a schedule is made for.
#pragma once

#include "topology/Topology.h"

namespace colldsl::driver {

struct Shape {
  uint32_t ranks = 1;
  uint64_t elements = 0; ///< n
  bool inPlace = false;
  const Topology *topology = nullptr;
};

} // namespace colldsl::driver
