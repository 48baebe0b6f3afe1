/// Documents of pages from the targets of a request.
#pragma once

#include "driver/Watch.h"
#include "driver/schedule/SingleSchedule.h"
#include "show/Document.h"

namespace colldsl::driver {

/// Simulates the target and adds it to the document, with its run. With more ops and messages than
/// Document::maxEvents the run is shown as a grid. `label`: in front of the schedule's own. An
/// error is reported as Source::render() shows it. The watch sees the simulation.
Status addSimulated(show::Document &document, Source &source, const Source::Target &target,
                    const SingleRequest &single, const sim::SimulateOptions &model,
                    const std::string &label, const Watch &watch = {});

/// A title for the document: the first schedule, and the number of others.
std::string titleOf(const show::Document &document);

/// A schedule with all its ops; no run.
show::ShownSchedule shownSchedule(const Source &source, const Source::Target &target,
                                  std::shared_ptr<const Schedule> schedule,
                                  std::vector<Sizes> sizes, uint64_t bytes);

/// Variant of shownSchedule() for a schedule of no Source. `textAt`: see ShownSchedule.
show::ShownSchedule shownSchedule(const std::string &name, std::shared_ptr<const Schedule> schedule,
                                  std::vector<Sizes> sizes, uint64_t bytes,
                                  std::function<std::string(const SourceLoc &)> textAt);

} // namespace colldsl::driver
