/// Work of the commands on behalf of Python: without the GIL, with what a command prints as an
/// exception, and ended by Ctrl-C.
#pragma once

#include "python/native/Errors.h"

#include "tools/options/Options.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace colldsl::python {

using Words = std::vector<std::string>;
using Outcome = std::optional<tools::Exit>; ///< nothing: all is well

/// The options of a command, and whether the words set them.
Outcome parse(tools::Options &options, const Words &words);

/// An error that is no use of a command, as it prints it.
Outcome report(const Status &status);

/// Runs the body, in a thread of its own, while it has all of `locks`. Raises what it printed if it
/// failed, else returns that. After Ctrl-C `stop` is true, the body ends, and KeyboardInterrupt is
/// raised; nothing runs any more then. Needs the GIL, and releases it meanwhile.
std::string work(std::vector<std::timed_mutex *> locks,
                 const std::function<Outcome(const std::atomic<bool> &stop)> &body);

} // namespace colldsl::python
