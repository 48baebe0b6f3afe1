/// Scripts by which shells complete command lines, from the tables behind --help. A script contains
/// all words, so that completion starts no process of colldsl.
#pragma once

#include "tools/Commands.h"

#include <optional>

namespace colldsl::tools {

using driver::Completion; // and not that of an operation

/// The option tables of all commands, and each completion once. Options and operands refer to a
/// completion by its number; nothing: the script offers nothing.
class CompletionTables {
public:
  CompletionTables();

  using Row = OptionTable::Row;
  const std::vector<CommandHelp> &commands() const { return commands_; }
  const std::vector<Completion> &completions() const { return completions_; }
  std::optional<size_t> numberOf(const Completion &completion) const;
  std::string commandNames() const; ///< with blanks between them

private:
  void add(Completion &completion);

  std::vector<CommandHelp> commands_;
  std::vector<Completion> completions_;
};

void printBashScript(const CompletionTables &tables, llvm::raw_ostream &out);
void printZshScript(const CompletionTables &tables, llvm::raw_ostream &out);
void printFishScript(const CompletionTables &tables, llvm::raw_ostream &out);

/// The text in single quotes; a quote within is written as `quote`.
std::string inQuotes(llvm::StringRef text, llvm::StringRef quote);
/// The words in single quotes, with blanks between them.
std::string allInQuotes(llvm::ArrayRef<std::string> words, llvm::StringRef quote);
std::string firstLine(llvm::StringRef text);

} // namespace colldsl::tools
