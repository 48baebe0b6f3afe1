/// The hardware threads that ranks may use.
#pragma once

#include <cstdint>
#include <sched.h>
#include <span>
#include <vector>

namespace colldsl {

/// The hardware threads of a set, ascending, or the first one.
std::vector<uint32_t> listPus(const cpu_set_t &set);

/// One hardware thread per rank, of those it may use the one that the fewest ranks before it
/// have: ranks without a binding are spread. `allowed`: per rank, ascending, not empty.
std::vector<uint32_t> spreadRanks(std::span<const std::vector<uint32_t>> allowed);

/// The hardware threads that this process may use, ascending.
std::vector<uint32_t> allowedPus();

} // namespace colldsl
