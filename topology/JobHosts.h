/// The hosts of a job, in the order of its ranks.
#pragma once

#include "ir/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace colldsl {

struct JobHost {
  std::string name;
  std::string place; ///< of the name, for messages: "jobs.txt:3:1"
};

/// Reads a host list of Slurm, or with @FILE a file that has one in each line, with `#` comments. A
/// host of such a line may have `slots=N` behind it, or `:N`, as the host files of MPIs: then it
/// counts N times. At least one host.
Result<std::vector<JobHost>> readHosts(std::string_view hosts);

} // namespace colldsl
