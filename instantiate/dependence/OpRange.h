/// A run of ops in program order: those that one statement added.
#pragma once

#include <cstdint>

namespace colldsl {

/// Ops [first, last). A call's label attaches to all of them.
struct OpRange {
  uint32_t first = 0;
  uint32_t last = 0;
};

} // namespace colldsl
