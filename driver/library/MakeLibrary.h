/// Schedule libraries from sources: programs, rules, and images, which are proved.
#pragma once

#include "driver/Watch.h"
#include "driver/proofs/Proofs.h"
#include "driver/requests/LibraryRequest.h"
#include "driver/source/Source.h"

namespace colldsl::driver {

/// The sources of a library.
struct LibraryInput {
  std::unique_ptr<Source> source;
  std::vector<Source::Target> targets; ///< not empty; functions are expanded
  ScheduleRequest reading;             ///< with the names in use
  std::string rules;                   ///< the text of LibraryRequest::rules
};

/// Reads the operands and the rules, and chooses the targets. Nothing after a mistake, which is
/// reported.
std::optional<LibraryInput> readForLibrary(Session &session,
                                           const std::vector<std::string> &operands,
                                           const LibraryRequest &request);

/// True if the task's schedule becomes an image. Other tasks are only proved: the library's program
/// may run on their machines.
bool isForImage(const ProofTask &task, const LibraryRequest &request);

/// The first parameter without a default and without --set; empty: there is none.
std::string missingValue(const Source &source, const Source::Target &target,
                         const LibraryRequest &request);

/// The content of the library of the targets. Schedules among them become images with a declaration
/// in an additional source text. Nothing after a mistake or a refused proof, which is reported.
std::optional<LibraryContent> makeLibrary(LibraryInput &input, const LibraryRequest &request,
                                          const Watch &watch = {});

} // namespace colldsl::driver
