/// The subcommands of the colldsl program, a file each, and the choice among them.
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
/// In the order in which `colldsl --help` lists them.
std::vector<CommandHelp> allCommands();

/// The whole program. `words` begin with the subcommand's name.
Exit runProgram(std::span<const char *const> words);

} // namespace colldsl::tools
