/// The one schedule that a command line names.
#pragma once

#include "driver/choice/Functions.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

/// Reads the operands of `options`, as files of the kind in `form` if it has one, and chooses the
/// one target that they and --name leave. Returns nothing, or reports mistakes and returns the exit
/// code.
std::optional<Exit> chooseSingle(const Options &options, const SingleRequest &single,
                                 Purpose purpose, const InputForm &form,
                                 std::unique_ptr<Source> &source, Source::Target &target);

} // namespace colldsl::tools
