/// The places of a plan's ops in its text.
#pragma once

#include "mscclpp/ExecutionPlan.h"

#include <string_view>

namespace colldsl::mscclpp {

/// Sets Op::loc to the line and column of the op's name in the JSON that the plan was read from.
/// File numbers are 0. Places beyond what a SourceLoc holds are left out.
void setPlaces(Plan &plan, std::string_view json);

} // namespace colldsl::mscclpp
