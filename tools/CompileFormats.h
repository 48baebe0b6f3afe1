/// `compile --to`: collectives as files for other tools.
#pragma once

#include "driver/library/MakeLibrary.h"
#include "tools/output/ExportFormat.h"

namespace colldsl::tools {

/// Writes each target for each number of ranks, size and form in place that the request has into a
/// new folder: COLLECTIVE-nP.goal and so on. Prints a line per schedule: the file, or the reason
/// why the format cannot have it. A schedule that is wrong is reported, and then there is no
/// folder. Fails also if something that was asked for by name has no file, or if nothing has.
Exit compileFormats(LibraryInput &input, const LibraryRequest &request,
                    const ExportSettings &settings, const std::string &folder);

} // namespace colldsl::tools
