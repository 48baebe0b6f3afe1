/// The subcommands of the colldsl program, a file each, and their dispatch.
#pragma once

#include "tools/options/Options.h"

#include <span>

namespace colldsl::tools {

#define COLLDSL_COMMAND(name, function, summary) Exit function(Arguments arguments);
#include "tools/Commands.def"

/// A subcommand, as data.
struct CommandHelp {
  llvm::StringRef name;
  llvm::StringRef summary;
  OptionTable table;
};
/// All subcommands, in the order of `colldsl --help`.
std::vector<CommandHelp> allCommands();

/// Runs the program. `words` begin with the subcommand's name.
Exit runProgram(std::span<const char *const> words);

} // namespace colldsl::tools
