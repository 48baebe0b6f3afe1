/// The subcommands of the colldsl program, a file each, and the choice among them.
#pragma once

#include "tools/options/Options.h"

#include <span>

namespace colldsl::tools {

/// Words of the command line behind the name of the subcommand.
using Arguments = std::span<const char *const>;

#define COLLDSL_COMMAND(name, function, summary) Exit function(Arguments arguments);
#include "tools/Commands.def"

/// The whole program. `arguments` begin with the subcommand's name.
Exit runProgram(Arguments arguments);

} // namespace colldsl::tools
