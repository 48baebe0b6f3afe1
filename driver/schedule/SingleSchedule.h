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

/// An error is reported as Source::render() shows it.
Result<SinglePlan> planSingle(Source &source, const Source::Target &target,
                              const SingleRequest &request);

/// The image of the library that serves the call; null: none does. The source is a library.
Result<const LibraryImage *> imageFor(const Source &source, const Source::Target &target,
                                      const SingleRequest &request, const SinglePlan &plan);

struct SingleSchedule {
  std::shared_ptr<const Schedule> schedule;
  const LibraryImage *image = nullptr; ///< the source of the schedule; null: none
  uint64_t elements = 0;               ///< n
  uint64_t bytes = 0;                  ///< n times the size of T
};

/// An error is reported as Source::render() shows it.
Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleRequest &request);

/// The schedule with its size. For a collective whose passes are proved, its validity range has the
/// sizes that are proved. An error is reported as Source::render() shows it.
Result<Schedule> makeProved(Source &source, const Source::Target &target,
                            const SingleRequest &request);

} // namespace colldsl::driver
