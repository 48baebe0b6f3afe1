/// Runs commands on behalf of Python: without the GIL, with their output as exceptions, and Ctrl-C
/// to end them.
#pragma once

#include "python/native/Errors.h"

#include "tools/options/Options.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace colldsl::python {

using Words = std::vector<std::string>;
using Outcome = std::optional<tools::Exit>; ///< nothing: all is well

/// Sets the options of a command by the words. Returns an exit unless they fit.
Outcome parse(tools::Options &options, const Words &words);

/// An error other than wrong usage, as a command prints it.
Outcome report(const Status &status);

/// Runs the body in a thread of its own, while holding all of `locks`. Raises the output of the
/// body if it failed, else returns it. Ctrl-C sets `stop`; once the body has ended,
/// KeyboardInterrupt is raised. Needs the GIL, and releases it meanwhile.
std::string work(std::vector<std::timed_mutex *> locks,
                 const std::function<Outcome(const std::atomic<bool> &stop)> &body);

} // namespace colldsl::python
