/// The ops of one rank as another tool lists them: each may depend on later ones.
#pragma once

#include "ir/Dag.h"
#include "ir/Result.h"

#include <functional>
#include <string>

namespace colldsl {

struct NodeGraph {
  std::vector<Op> ops;            ///< in the order of the file; messages have a tag and no count
  std::vector<uint64_t> depBegin; ///< of each op, and the end of the last one
  std::vector<Dep> deps;          ///< dependencies of each op, by its place in `ops`
};

/// The ops in their order; one that depends on a later one moves behind it, and no further.
/// Messages of a tag are numbered in the order of the file. The error names the nodes of a cycle,
/// each by nameOf(its place in `ops`).
Result<Dag> toDag(NodeGraph graph, const std::function<std::string(uint32_t)> &nameOf);

} // namespace colldsl
