#include "tools/Commands.h"

#include "compiler/Spelling.h"
#include "tools/OutOfMemory.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/ResultStream.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace colldsl::tools {
namespace {

struct Command {
  llvm::StringRef name;
  Exit (*run)(Arguments);
  llvm::StringRef summary;
};

constexpr Command kCommands[] = {
#define COLLDSL_COMMAND(name, function, summary) {name, function, summary},
#include "tools/Commands.def"
};

void printHelp(llvm::raw_ostream &out) {
  out << "usage: colldsl COMMAND [OPTION...] [OPERAND...]\n\n"
         "Compiles, proves and runs communication schedules.\n\n";
  for (const Command &command : kCommands)
    out << "  " << llvm::left_justify(command.name, 10) << " " << command.summary << "\n";
  out << "\n`colldsl COMMAND --help` tells more about one of them.\n";
}

Exit refuse(llvm::StringRef word) {
  std::vector<llvm::StringRef> names;
  for (const Command &command : kCommands)
    names.push_back(command.name);
  std::string hint =
      word == "version" ? didYouMean("--version") : didYouMean(nearestWord(word, names));
  errorStream() << "colldsl: there is no command '" << word << "'"
                << (hint.empty() ? "; `colldsl --help` lists them" : "; " + hint) << "\n";
  return Exit::Usage;
}

const Command *findCommand(llvm::StringRef word) {
  const Command *command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                        [&](const Command &c) { return c.name == word; });
  return command == std::end(kCommands) ? nullptr : command;
}

/// `colldsl help verify` is `colldsl verify --help`.
Exit help(std::span<const char *const> words) {
  if (words.empty()) {
    printHelp(resultStream());
    return Exit::Success;
  }
  constexpr const char *kHelp[] = {"--help"};
  const Command *command = findCommand(words.front());
  return command ? command->run({kHelp}) : refuse(words.front());
}

Exit dispatch(std::span<const char *const> words) {
  if (words.empty()) {
    printHelp(errorStream());
    return Exit::Usage;
  }
  llvm::StringRef word = words.front();
  if (word == "--help" || word == "-h" || word == "help")
    return help(words.subspan(1));
  if (word == "--version") {
    resultStream() << "colldsl " COLLDSL_VERSION "\n";
    return Exit::Success;
  }
  const Command *command = findCommand(word);
  return command ? command->run({words.subspan(1)}) : refuse(word);
}

/// True if all output was written. A full disk is reported here only.
bool finishOutput() {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error(); // else the stream's destructor ends the program
  return !error || printError("cannot write to the standard output: " + error.message());
}

} // namespace

std::vector<CommandHelp> allCommands() {
  std::vector<CommandHelp> all;
  for (const Command &command : kCommands) {
    CommandHelp &help = all.emplace_back(CommandHelp{command.name, command.summary, {}});
    command.run({{}, &help.table});
  }
  return all;
}

Exit runProgram(std::span<const char *const> words) {
  Exit exit = Exit::Failure;
  try {
    exit = dispatch(words);
  } catch (const std::bad_alloc &) { // of an impossible size; others call the handler
    endForLackOfMemory();
  } catch (const std::length_error &e) { // a list that outgrew its index
    printError(e.what());
  }
  return finishOutput() || exit != Exit::Success ? exit : Exit::Failure;
}

} // namespace colldsl::tools
