/// Schedules to test with, and what it means that two are the same.
#pragma once

#include "ir/Schedule.h"

#include <cstdint>
#include <string>

namespace colldsl {

/// Four ranks that use every op kind, layout and statement of the text form once.
Schedule everythingSchedule();

/// A ring allgather of `ranks` ranks, sound in every way, with its contract.
Schedule ringSchedule(uint32_t ranks);

/// Sound for loader and parser (bounds, indices), senseless as a collective; the same
/// seed gives the same schedule. Message ids are of any form.
Schedule randomSchedule(uint64_t seed);

/// Empty if both are the same in every field that has a meaning, else the first
/// difference in words. Tables of names and slices may be in another order, an op's
/// dependencies too.
std::string difference(const Schedule &a, const Schedule &b);

} // namespace colldsl
