/// Execution traces of Chakra (mlcommons/chakra, schema 1.0), as ASTRA-sim runs them for workloads
/// and for custom collectives: a file per rank, NAME.RANK.et, of messages and computations with
/// their dependencies. docs/formats.md says what becomes of which node.
#pragma once

#include "formats/GoalText.h"
#include "ir/TextForm.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace colldsl::chakra {

/// True if the content begins as a trace does: with metadata that have a version, then a node.
bool isTrace(std::string_view content);

/// The traces of the ranks, in their order, at n == sizeClass.elements. printGoal() says how each
/// op is translated, and which are errors; GOAL's irequires, cpu and nic are errors, too. A rank
/// without ops gets a computation of no time, since ASTRA-sim ends with a node.
Result<std::vector<std::string>> encode(const Schedule &schedule, GoalOptions options = {});

/// Reads the trace of each rank. An error names the rank and the node: a collective, a message
/// without a peer, a dependency on a node that is not there, a cycle. Of `limits` maxBytes, maxOps
/// and maxRanks apply. The schedule is plain GOAL, and named `name`.
Result<Schedule> decode(std::span<const std::string_view> ranks, std::string_view name,
                        TextLimits limits = {});

} // namespace colldsl::chakra
