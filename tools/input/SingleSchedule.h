/// The one schedule of a target that `run` and `opt` make: so many ranks, one size, one
/// set of parameters.
#pragma once

#include "tools/input/MakeSchedule.h"

namespace colldsl::tools {

struct SingleOptions {
  ScheduleOptions schedule;
  std::optional<uint32_t> ranks; ///< -n
  std::optional<uint64_t> bytes; ///< --bytes

  /// This object and the text outlive the parse.
  void addTo(Options &options, llvm::StringRef topologyHelp);
};

/// What is to be made of a target.
struct SinglePlan {
  Shape shape;
  std::unique_ptr<Topology> topology; ///< the shape's
  Call call;
  uint64_t bytes = 0; ///< n times the size of T
};

/// An error is told as Source::render() shows it.
Result<SinglePlan> planSingle(Source &source, const Source::Target &target,
                              const SingleOptions &options);

struct SingleSchedule {
  std::shared_ptr<const Schedule> schedule;
  uint64_t elements = 0; ///< n
  uint64_t bytes = 0;    ///< n times the size of T
};

/// An error is told as Source::render() shows it.
Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleOptions &options);

} // namespace colldsl::tools
