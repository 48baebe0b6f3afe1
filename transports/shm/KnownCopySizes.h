/// The sizes that jobs measured on this machine, in a file of the user: later jobs copy alike, and
/// measure nothing.
#pragma once

#include "transports/shm/ShmOptions.h"

#include <string>

namespace colldsl::shm {

/// A job that other work disturbs measures wrong sizes, so the middle of so many counts.
inline constexpr size_t kEnoughCopySizes = 5;

/// A file in $XDG_CACHE_HOME/colldsl or in .cache/colldsl of the user's home, named for processor,
/// number of cores and kernel. Empty: there is no home.
std::string copySizesPath();

/// The middle of the measurements in that file; nothing: they are not enough yet.
std::optional<CopySizes> knownCopySizes(const std::string &path);

/// Adds a measurement to the file, and returns the middle of all of them. Where the file cannot be
/// written this job's measurement counts, and the next job measures again.
CopySizes addCopySizes(const std::string &path, CopySizes measured);

} // namespace colldsl::shm
