/// A launcher as small as can be: processes that share a page, in which they gather.
#pragma once

#include "colldsl/colldsl.hpp"

#include <functional>
#include <string>

namespace colldsl::test {

/// Runs the body in so many processes, each with its own bootstrap. Empty if no process
/// complained, else all complaints; a process that dies complains by its signal.
std::string launch(uint32_t processes,
                   const std::function<std::string(const colldsl_bootstrap &)> &body);

/// The same for coll::Context::fork(): what a rank says is the text of the exception.
std::string runRanks(uint32_t ranks, const std::function<std::string(coll::Communicator &)> &body,
                     const colldsl_options &options = COLLDSL_OPTIONS_INIT);

} // namespace colldsl::test
