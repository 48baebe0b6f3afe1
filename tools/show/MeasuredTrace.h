/// Measured times beside simulated ones.
#pragma once

#include "show/Document.h"

namespace colldsl::tools {

/// Adds the run that `colldsl run --trace` wrote into `file` to the document, as one of its first
/// schedule. An error names the file.
Status addMeasured(show::Document &document, const std::string &file);

} // namespace colldsl::tools
