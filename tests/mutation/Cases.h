/// The schedules that are mutated: every collective of the standard library, called as
/// `verify --stdlib` calls it, on 5 and 8 ranks in nodes of 3 cores.
#pragma once

#include "ir/Schedule.h"

#include <memory>
#include <string>
#include <vector>

namespace colldsl::mutation {

struct Case {
  std::string words; ///< "bcast_chain, 5 ranks, 28 B, root=3"
  std::shared_ptr<const Schedule> schedule;
  std::vector<Sizes> sizes; ///< one per rank
};

/// Roots are 0 and 3; reductions commute and do not, where allowed; forms in place and not.
/// Blocks have 7 elements, segments 2, so that there are at least three. No names: all
/// collectives. Mistakes are told on stderr; empty then.
std::vector<Case> stdlibCases(const std::vector<std::string> &names);

} // namespace colldsl::mutation
