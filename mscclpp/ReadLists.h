/// Lists of numbers in JSON.
#pragma once

#include "topology/JsonReader.h"

#include <cstdint>
#include <vector>

namespace colldsl::mscclpp {

/// The numbers of a list, none above `max`. The first error replaces a `status` without one.
std::vector<uint32_t> numbers(const Json &list, const JsonPlace &place, uint32_t max,
                              Status &status);

/// Positions in a table of so many entries, which the error calls `what`.
std::vector<uint32_t> positions(const Json &list, const JsonPlace &place, size_t count,
                                std::string_view what, Status &status);

} // namespace colldsl::mscclpp
