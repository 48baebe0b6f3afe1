/// The one schedule of a target: so many ranks, one size, one set of parameters.
#pragma once

#include "driver/requests/SingleRequest.h"
#include "driver/schedule/MakeSchedule.h"

namespace colldsl::driver {

/// The schedule to make of a target.
struct SinglePlan {
  Shape shape;
  std::unique_ptr<Topology> topology; ///< the shape's
  Call call;
  uint64_t bytes = 0; ///< n times the size of T
};

/// `tryValues`: as in Variety; the first of several values. An error is reported as
/// Source::render() shows it.
Result<SinglePlan> planSingle(Source &source, const Source::Target &target,
                              const SingleRequest &request, bool tryValues = false);

/// The image of the library that serves the call; null: none does. The source is a library.
Result<const LibraryImage *> imageFor(const Source &source, const Source::Target &target,
                                      const SingleRequest &request, const SinglePlan &plan);

struct SingleSchedule {
  std::shared_ptr<const Schedule> schedule;
  const LibraryImage *image = nullptr; ///< the source of the schedule; null: none
  uint64_t elements = 0;               ///< n
  uint64_t bytes = 0;                  ///< n times the size of T
};

/// The image of a library if one serves the call and no pass runs. Else as planSingle() plans it.
Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleRequest &request, bool tryValues = false);

/// The schedule with its size, without images. For a collective whose passes are proved, its
/// validity range has the sizes that are proved. An error is reported as Source::render() shows it.
Result<Schedule> makeProved(Source &source, const Source::Target &target,
                            const SingleRequest &request);

} // namespace colldsl::driver
