#include "tools/completion/Scripts.h"

namespace colldsl::tools {

Exit completionCommand(Arguments arguments) {
  Options options("completion", "bash|zsh|fish",
                  "Prints the script by which a shell completes commands, options, their values,\n"
                  "files and collectives. For bash: source <(colldsl completion bash)");
  options.completeOperands(completionOf({"bash", "zsh", "fish"}));
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  if (options.operands().size() != 1)
    return options.refuse("name one shell: bash, zsh or fish");
  llvm::StringRef shell = options.operands().front();
  void (*print)(const CompletionTables &, llvm::raw_ostream &) = shell == "bash"   ? printBashScript
                                                                 : shell == "zsh"  ? printZshScript
                                                                 : shell == "fish" ? printFishScript
                                                                                   : nullptr;
  if (!print)
    return options.refuse("there is no script for '" + shell + "': bash, zsh or fish");
  print(CompletionTables(), llvm::outs());
  return Exit::Success;
}

} // namespace colldsl::tools
